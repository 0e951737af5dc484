"""The base class of readers of data sets that are published in several forms."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Callable, ClassVar, Optional

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import TokenizingReader, defaults_of
from allennlp_sentmatch.data.files.lines import check_encoding
from allennlp_sentmatch.data.files.row import Column, Row
from allennlp_sentmatch.data.files.table import Table

Columns = tuple[Column, ...]


def _one_part(data_path: Any) -> dict[None, Any]:
    return {None: data_path}


@dataclass(frozen=True)
class Format:
    """The form of a data set's files.

    # Parameters

    rows : `Callable[..., Iterator[Row]]`
        Reads the rows of a path, with the keyword argument `encoding`.
    columns : `Mapping[str, tuple[Column, ...]]`
        By the name that the reader has for a value, the columns that may hold it. Of most values
        the first column that a row has counts; of an id, all together.
    encoding : `str`, optional (default = `"utf-8"`)
    parts : `Callable[[Any], Mapping[Any, Any]]`, optional
        From a data path to the paths of its parts, by their labels. By default there is one part,
        whose rows have labels of their own.
    score_range : `tuple[float, float]`, optional (default = `None`)
        The lowest and the highest score; by default, a score may be any finite number.
    no_gold_label : `str`, optional (default = `None`)
        The label of pairs on which the annotators did not agree, which are skipped.
    rename_label : `Callable[[str], str]`, optional
        From the label in the file to the label in the instance. By default they are the same.
    """

    rows: Callable[..., Iterator[Row]]
    columns: Mapping[str, Columns]
    encoding: str = "utf-8"
    parts: Callable[[Any], Mapping[Any, Any]] = _one_part
    score_range: Optional[tuple[float, float]] = None
    no_gold_label: Optional[str] = None
    rename_label: Callable[[str], str] = str


class FormattedReader(TokenizingReader):
    """Reads published data sets, and any `table`: tsv, csv or JSON lines. Not registered itself.

    Files may be gzip-compressed, URLs, or `archive!member`. For a part of a file, see `Folds`. The
    settings that name the columns of a table take names (the file has a header, or is JSON lines)
    or positions counted from 0 (it has no header).

    # Parameters

    format : `str`
        The name of a published form, or `table`.
    delimiter : `str`, optional (default = `None`)
        `table`: the string that separates the columns. By default the first line decides: `{`
        begins JSON lines, otherwise a tab if there is one, otherwise a comma.
    quoted : `bool`, optional (default = `None`)
        `table`: whether double quotes around a value protect its content; by default, if the
        delimiter is a comma.
    encoding : `str`, optional (default = `None`)
        The files' encoding. By default the published one, mostly UTF-8.
    max_length, tokenizer, token_indexers : optional
        As in `TokenizingReader`.
    """

    FORMATS: ClassVar[Mapping[str, Format]]

    def __init__(
        self,
        format: str,
        delimiter: Optional[str] = None,
        quoted: Optional[bool] = None,
        encoding: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if format not in (*self.FORMATS, "table"):
            raise ConfigurationError(
                f"format={format!r}: expected one of {', '.join([*self.FORMATS, 'table'])}"
            )
        self._format_name = format
        self._table_form: dict[str, Any] = {"delimiter": delimiter, "quoted": quoted}
        self._given_encoding = encoding and check_encoding(encoding)

    def _choose_format(
        self, columns: Mapping[str, Optional[Column]], optional: Collection[str], **others: Any
    ) -> None:
        """Set `_format` and `_encoding`.

        # Parameters

        columns : `Mapping[str, Optional[Column]]`
            The columns of a table, by the names of the settings.
        optional : `Collection[str]`
            The settings that may be null, for a file without such a column.
        others : `Any`
            Further settings that only a table has.
        """
        self._check_use("table", {**columns, **self._table_form, **others})
        if self._format_name == "table":
            table = Table(columns, **self._table_form, optional=optional)
            given = {name: () if column is None else (column,) for name, column in columns.items()}
            self._format = Format(table.rows, given, **others)
        else:
            self._format = self.FORMATS[self._format_name]
        self._encoding = self._given_encoding or self._format.encoding

    def _check_use(self, needed: str, settings: Mapping[str, Any]) -> None:
        """Raise an error if settings of the format `needed` are set for another one."""
        defaults = defaults_of(type(self))
        ignored = [name for name, value in settings.items() if value != defaults[name]]
        if ignored and self._format_name != needed:
            raise ConfigurationError(
                f"format={self._format_name!r} does not use {', '.join(ignored)}, which only "
                f"format={needed!r} has; leave it out, or set the other format"
            )
