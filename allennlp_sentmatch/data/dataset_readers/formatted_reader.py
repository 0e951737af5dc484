"""Readers of published data sets and of tables."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any, Callable, ClassVar, Optional, TypeVar

from allennlp_sentmatch.data.dataset_readers.formats import Format
from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import TokenizingReader
from allennlp_sentmatch.data.folds import split_data_path
from allennlp_sentmatch.errors import ConfigurationError, inherits_settings
from allennlp_sentmatch.files.lines import check_encoding
from allennlp_sentmatch.files.row import AllOrNone, Column, Row
from allennlp_sentmatch.files.tables import Table
from allennlp_sentmatch.nn.checks import check_choice

T = TypeVar("T")

TABLE = "table"
"""The format of users' own files."""

OPTIONAL = ("answers", "candidate_id", "id", "label", "question_id", "score")
"""The settings that name a column and may be null, since a file need not have it."""

SETTING_OF_FIELD = {"labels": "label", "span_start": "answers"}
"""The setting that names a field's column, if it has not the field's name."""


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
    max_length, tokenizer, token_indexers : as in `TokenizingReader`
    """

    FORMATS: ClassVar[Mapping[str, Format]]
    """The published forms, by their names."""

    @inherits_settings(TokenizingReader)
    def __init__(
        self,
        format: str,
        delimiter: Optional[str] = None,
        quoted: Optional[bool] = None,
        encoding: Optional[str] = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        check_choice(*self.FORMATS, TABLE, format=format)
        self._format_name = format
        self._table_form: dict[str, Any] = {"delimiter": delimiter, "quoted": quoted}
        self._given_encoding = check_encoding(encoding) if encoding else None

    def _choose_format(self, columns: Mapping[str, Optional[Column]], **others: Any) -> None:
        """Set `_format`, `_columns` and `_encoding`.

        `columns` are a table's columns by the names of the settings; the settings in `OPTIONAL`
        may be null. `others` are further settings that only a table has. Raise `ConfigurationError`
        if one of them is set for another format, and `ValueError` for impossible columns.
        """
        self._check_use(TABLE, {**columns, **self._table_form, **others})
        if self._format_name == TABLE:
            table = Table(columns, **self._table_form, optional=OPTIONAL)
            given = {name: (column,) for name, column in columns.items() if column is not None}
            self._format = Format(table.rows, given, **others)
        else:
            self._format = self.FORMATS[self._format_name]
        self._columns: dict[str, Any] = defaultdict(tuple, self._format.columns)
        self._encoding = self._given_encoding or self._format.encoding

    def _check_use(self, format: str, settings: Mapping[str, Any]) -> None:
        """Raise `ConfigurationError` if settings that only `format` has are set for another one."""
        if self._format_name == format:
            return
        defaults = {}
        for cls in reversed(type(self).__mro__[:-1]):  # without `object`
            for parameter in signature(cls).parameters.values():
                defaults[parameter.name] = parameter.default
        ignored = [name for name, value in settings.items() if value != defaults[name]]
        if ignored:
            raise ConfigurationError(
                f"format={self._format_name!r} does not use {', '.join(ignored)}, which only "
                f"format={format!r} has; leave it out, or set the other format"
            )

    def _folds_by(self) -> str:
        return "sentence" if self._format_name == TABLE else "line"

    def _rows(
        self,
        path: Any,
        value_of: Callable[[Row], Optional[T]],
        name: str = "label",
    ) -> Iterator[tuple[Row, Optional[T]]]:
        """Yield the rows of a path with their values, which either all of them have, or none."""
        presence = AllOrNone(name)
        for row in self._format.rows(path, encoding=self._encoding):
            value = value_of(row)
            presence.check(row, value)
            yield row, value

    def _label(self, row: Row) -> Optional[str]:
        return row.label(self._columns["label"])

    def missing(self, data_path: Any, name: str) -> ConfigurationError:
        """Return the error for data whose examples have no field `name`; it lists the columns."""
        path, _ = split_data_path(data_path)
        first = path[0] if isinstance(path, list) else path
        row = next(iter(self._format.rows(first, encoding=self._encoding)))
        columns = self._columns[SETTING_OF_FIELD.get(name, name)]
        wanted = " or ".join(map(repr, columns)) or "null, none"
        error = row.error(
            f"the examples have no {name} to compare predictions with; its column is {wanted}, and "
            f"{row.listed}"
        )
        return ConfigurationError(str(error))
