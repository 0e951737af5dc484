"""The base classes of this package's readers."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from itertools import chain, compress, islice
from typing import Any, Callable, ClassVar, Optional, TypeVar

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import Field, ListField, MetadataField, TextField
from allennlp.data.instance import Instance
from allennlp.data.token_indexers import (
    PretrainedTransformerIndexer,
    PretrainedTransformerMismatchedIndexer,
    SingleIdTokenIndexer,
    TokenIndexer,
)
from allennlp.data.tokenizers import PretrainedTransformerTokenizer, Token, Tokenizer
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN, DEFAULT_PADDING_TOKEN

from allennlp_sentmatch.data.dataset_readers.formats import Format
from allennlp_sentmatch.data.fields import LabelField
from allennlp_sentmatch.data.folds import Folds, split_data_path
from allennlp_sentmatch.data.text import check_text, is_unsplit
from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer
from allennlp_sentmatch.errors import configuration_errors, inherits_settings
from allennlp_sentmatch.files.json_lines import parse_json_object
from allennlp_sentmatch.files.lines import check_encoding
from allennlp_sentmatch.files.messages import printable, shorten
from allennlp_sentmatch.files.row import AllOrNone, Column, Row, Source
from allennlp_sentmatch.files.tables import Table

logger = logging.getLogger(__name__)

T = TypeVar("T")


class ConfiguredReader(DatasetReader):
    """Names the files and lines of errors. Not registered itself.

    The log says once if most texts of a path, in a script without spaces, are not split into words.

    # Parameters

    max_length : `int`, optional (default = `None`)
        A number of tokens, at least 1.
    """

    SIDES: ClassVar[Sequence[str]] = ("sentence",)
    """The names of an example's sentences in the log, one or two."""

    def __init__(
        self,
        max_length: Optional[int] = None,
        max_instances: Optional[int] = None,
        serialization_dir: Optional[str] = None,
    ) -> None:
        super().__init__(
            max_instances,
            manual_distributed_sharding=True,
            manual_multiprocess_sharding=True,
            serialization_dir=serialization_dir,
        )
        if max_length is not None and max_length < 1:
            raise ConfigurationError(f"max_length={max_length}: expected at least 1, or null")
        self._max_length = max_length
        self._num_texts: Counter[bool] = Counter()
        self._has_logged_unsplit = False
        self._left_out: Counter[str] = Counter()
        """The number of examples of the current path that were left out, by cause."""

    def read(self, file_path: Any) -> Iterator[Instance]:
        """Read the instances of a data path. Raises an error if there are none.

        A path that is an object may be its JSON, as in `allennlp predict --use-dataset-reader`.
        """
        with configuration_errors():
            yield from self._checked_instances(file_path)

    def _checked_instances(self, file_path: Any) -> Iterator[Instance]:
        if isinstance(file_path, str) and re.match(r'\s*{\s*"', file_path):
            file_path = parse_json_object(file_path, "the data path", "an object")
        self._num_texts.clear()
        self._left_out.clear()
        number = 0
        try:
            for instance in super().read(file_path):
                number += 1
                yield instance
            # A worker process may have no examples although others have some.
            if not number and self.get_worker_info() is None:
                raise self._nothing_left(file_path)
            for cause, left_out in self._left_out.items():
                logger.info("%s: left out %d %s", file_path, left_out, cause)
            if number == self.max_instances:
                logger.warning("%s: only the first %d examples (max_instances)", file_path, number)
        finally:
            share = self._num_texts[True] / max(sum(self._num_texts.values()), 1)
            if share > 0.5 and not self._has_logged_unsplit:
                self._has_logged_unsplit = True
                logger.warning(
                    f"{file_path}: {share:.0%} of the texts are a single token or few, since they "
                    "have no spaces between words: set the tokenizer to 'character', or to "
                    "spacy_blank with their `language`"
                )

    def _count(self, tokens: list[Token]) -> list[Token]:
        """Return the tokens of a text, and note whether they are words."""
        self._num_texts[is_unsplit(token.text or "" for token in tokens)] += 1
        return tokens

    def _nothing_left(self, data_path: Any) -> ConfigurationError:
        causes = [f"left out {number} {cause}" for cause, number in self._left_out.items()]
        if self.max_instances == 0:
            causes.append("max_instances is 0")
        if isinstance(data_path, Mapping) and "folds" in data_path:
            causes.append(f"there is no example in the folds {data_path['folds']}")
        if is_distributed():
            causes.append("this is one of several processes, which share the examples")
        causes = causes or ["it has none"]
        where = printable(str(data_path))
        return ConfigurationError(f"{where}: no example is read: {'; '.join(causes)}")

    def shard_iterable(self, iterable: Iterable[T]) -> Iterator[T]:
        """Return this reader's part of the examples that all processes share.

        AllenNLP checks whether training is distributed, but not which reader this is: within a
        "sharded" reader, whose processes share the files, each read only a part of its files.
        """
        shared = iter(iterable)
        processes = self.get_distributed_info()
        if processes is not None:
            shared = islice(shared, processes.global_rank, None, processes.world_size)
        worker = self.get_worker_info()
        if worker is not None:
            shared = islice(shared, worker.id, None, worker.num_workers)
        return islice(shared, self.max_instances)

    def _shared(self, data_path: Any) -> Iterator[Any]:
        """Return the examples of a data path, with or without folds, that this worker reads."""
        return self.shard_iterable(self.examples(data_path))

    def examples(self, data_path: Any) -> Iterator[Any]:
        """Return the examples of a data path, with or without folds, of all workers, as they are
        read.
        """
        path, folds = split_data_path(data_path)
        if folds is None:
            return chain.from_iterable(self._parts(path))
        if (folds.by or self._folds_by()) == "line":
            return chain.from_iterable(map(folds.select, self._parts(path)))
        return self._in_folds(path, folds)

    def _in_folds(self, path: Any, folds: Folds) -> Iterator[Any]:
        """Yield the examples in the kept folds; examples that share a sentence are in one fold."""
        sentences = []
        for part in self._parts(path):
            # Numbers replace the texts, since a file may have millions of them.
            sentences.append([tuple(map(hash, self.sentences(example))) for example in part])
        self._left_out.clear()  # examples that are left out are counted only once
        division = folds.divide(sentences)
        described = division.described(self.SIDES, folds.number)
        if described is not None:
            logger.info("%s: %s", path, described)
        for part, kept in zip(self._parts(path), division.kept):
            yield from compress(part, kept)

    def _folds_by(self) -> str:
        """Return whether folds without a `by` are dealt by "sentence" or by "line"."""
        return "sentence"

    def _parts(self, path: Any) -> Iterable[Iterable[Any]]:
        """Return the examples of each part of a path; each part is dealt into the folds."""
        raise NotImplementedError

    def sentences(self, example: Any) -> tuple[str, ...]:
        """Return the text or the two texts of an example, which other folds must not contain."""
        raise NotImplementedError


class TokenizingReader(ConfiguredReader):
    """Makes text fields and gives them their indexers. Not registered itself.

    A text without a single token becomes one out-of-vocabulary token: `@@UNKNOWN@@`, or the unknown
    token of the pretrained transformer that reads the text, such as `[UNK]`. Real data have such
    texts (three pairs of the Quora release), and neither AllenNLP's encoders nor `torch.nn.LSTM`
    take a batch in which every sentence is empty.

    The word `@@PADDING@@`, which AllenNLP's vocabulary takes for padding, becomes this token, too.
    The log says once if a text is cut, by the reader or by a transformer's tokenizer.

    # Parameters

    tokenizer : `Tokenizer`, optional (default = `SpacyBlankTokenizer()`)
        Splits every text.
    token_indexers : `dict[str, TokenIndexer]`, optional
            (default = `{"tokens": SingleIdTokenIndexer()}`)
    max_length : `int`, optional (default = `None`)
        Tokens past this number, which includes tokens that the tokenizer adds, are left out.
    """

    @inherits_settings(ConfiguredReader)
    def __init__(
        self,
        tokenizer: Optional[Tokenizer] = None,
        token_indexers: Optional[dict[str, TokenIndexer]] = None,
        max_length: Optional[int] = None,
        **settings: Any,
    ) -> None:
        super().__init__(max_length, **settings)
        self._tokenizer = tokenizer or SpacyBlankTokenizer()
        self._token_indexers = token_indexers or {"tokens": SingleIdTokenIndexer()}
        self._unknown_word = _unknown_word(self._token_indexers)
        self._has_logged_cut = False

    def _text_field(self, text: str, name: str) -> TextField:
        """Return the tokens of `text`, without indexers; `name` is what an error calls it."""
        return self._field_of_tokens(self._tokenize(text, name))

    def _tokenize(self, text: str, name: str) -> list[Token]:
        text = check_text(text, name)
        tokens = self._count(self._tokenizer.tokenize(text))
        if _is_cut(tokens, text, self._tokenizer):
            self._log_cut(text, len(tokens))
        elif self._max_length is not None and len(tokens) > self._max_length:
            self._log_cut(text, self._max_length)
        return tokens

    def _log_cut(self, text: str, length: int) -> None:
        if not self._has_logged_cut:
            self._has_logged_cut = True
            logger.warning(
                f"a text is cut after {length} tokens (max_length), and others may be, without "
                f"another message: {shorten(text)}"
            )

    def _field_of_tokens(self, tokens: list[Token]) -> TextField:
        tokens = without_padding_word(tokens[: self._max_length], self._unknown_word)
        return TextField(tokens or [Token(self._unknown_word)])

    def apply_token_indexers(self, instance: Instance) -> None:
        """Give every text field of the `instance`, alone or in a list, its token indexers."""
        for field in text_fields(instance):
            field.token_indexers = self._token_indexers


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
        """Set `_format`, `_columns` and `_encoding`.

        `columns` are a table's columns by the names of the settings, and the settings in `optional`
        may be null; `others` are further settings that only a table has.
        """
        self._check_use("table", {**columns, **self._table_form, **others})
        if self._format_name == "table":
            table = Table(columns, **self._table_form, optional=optional)
            given = {name: (column,) for name, column in columns.items() if column is not None}
            self._format = Format(table.rows, given, **others)
        else:
            self._format = self.FORMATS[self._format_name]
        self._columns: dict[str, Any] = defaultdict(tuple, self._format.columns)
        self._encoding = self._given_encoding or self._format.encoding

    def _check_use(self, needed: str, settings: Mapping[str, Any]) -> None:
        """Raise an error if settings of the format `needed` are set for another one."""
        signatures = [signature(cls).parameters for cls in type(self).__mro__[-2::-1]]
        defaults = {p.name: p.default for parameters in signatures for p in parameters.values()}
        ignored = [name for name, value in settings.items() if value != defaults[name]]
        if ignored and self._format_name != needed:
            raise ConfigurationError(
                f"format={self._format_name!r} does not use {', '.join(ignored)}, which only "
                f"format={needed!r} has; leave it out, or set the other format"
            )

    def _folds_by(self) -> str:
        return "sentence" if self._format_name == "table" else "line"

    def _rows(
        self, path: Any, value_of: Callable[[Row], Optional[T]], name: str = "label"
    ) -> Iterator[tuple[Row, Optional[T]]]:
        """Yield the rows of a path with their values, which either all of them have, or none."""
        presence = AllOrNone(name)
        for row in self._format.rows(path, encoding=self._encoding):
            value = value_of(row)
            presence.check(row, value)
            yield row, value

    def missing(self, data_path: Any, name: str) -> ConfigurationError:
        """Return the error for data whose examples have no field `name`; it lists the columns."""
        path, _ = split_data_path(data_path)
        first = path[0] if isinstance(path, list) else path
        row = next(iter(self._format.rows(first, encoding=self._encoding)))
        columns = self._columns[{"labels": "label", "span_start": "answers"}.get(name, name)]
        wanted = " or ".join(map(repr, columns)) or "null, none"
        error = row.error(
            f"the examples have no {name} to compare predictions with; its column is {wanted}, and "
            f"{row.listed}"
        )
        return ConfigurationError(str(error))

    def _label(self, row: Row) -> Optional[str]:
        return row.label(self._columns["label"])


def sentence_instance(
    text: str,
    field: TextField,
    label: Optional[str] = None,
    source: Optional[Source] = None,
    id: Optional[str] = None,
) -> Instance:
    """Return the instance of one text: `tokens`, `label` if there is one, and `metadata` with
    `text`, `tokens` (a list of strings) and, if there is one, `id`.
    """
    label_field = None if label is None else LabelField(label, source=source)
    metadata = {"text": text, "tokens": words_of(field), "id": id}
    return instance_of({"tokens": field, "label": label_field}, metadata)


def instance_of(
    fields: Mapping[str, Optional[Field[Any]]], metadata: Mapping[str, Any]
) -> Instance:
    """Return the instance of the fields and of a field `metadata`, without those that are
    `None`.
    """
    present = {name: field for name, field in fields.items() if field is not None}
    values = {name: value for name, value in metadata.items() if value is not None}
    return Instance({**present, "metadata": MetadataField(values)})


def text_fields(instance: Instance) -> Iterator[TextField]:
    """Yield the text fields of an instance, including those in lists."""
    for field in instance.fields.values():
        members = field.field_list if isinstance(field, ListField) else [field]
        yield from (member for member in members if isinstance(member, TextField))


def words_of(field: TextField) -> list[str]:
    """Return the texts of a field's tokens."""
    return [token.text or "" for token in field.tokens]


def _is_cut(tokens: list[Token], text: str, tokenizer: Tokenizer) -> bool:
    """Return whether a transformer's tokenizer has cut off the end of a text."""
    if not isinstance(tokenizer, PretrainedTransformerTokenizer):
        return False
    if tokenizer._max_length is None or len(tokens) < tokenizer._max_length:
        return False
    ends = [token.idx_end for token in tokens if token.idx_end is not None]
    return max(ends, default=len(text)) < len(text.rstrip())


def without_padding_word(tokens: list[Token], unknown_word: str) -> list[Token]:
    """Replace the word `@@PADDING@@`, which has the index of padding in every vocabulary."""
    # A transformer's tokenizer numbers its tokens, without the vocabulary.
    return [
        Token(unknown_word, token.idx, token.idx_end)
        if token.text == DEFAULT_PADDING_TOKEN and token.text_id is None
        else token
        for token in tokens
    ]


def _unknown_word(token_indexers: dict[str, TokenIndexer]) -> str:
    # A transformer would split `@@UNKNOWN@@` into pieces.
    words = {
        indexer._tokenizer.special_tokens_map.get("unk_token", DEFAULT_OOV_TOKEN)
        if isinstance(
            indexer, (PretrainedTransformerIndexer, PretrainedTransformerMismatchedIndexer)
        )
        else DEFAULT_OOV_TOKEN
        for indexer in token_indexers.values()
    }
    return str(words.pop()) if len(words) == 1 else DEFAULT_OOV_TOKEN
