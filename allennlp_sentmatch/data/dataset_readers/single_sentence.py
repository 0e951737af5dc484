"""Labeled sentences, questions and reviews."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any, Callable, Optional, Union

from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import Field, MetadataField
from allennlp.data.instance import Instance
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Tokenizer

from allennlp_sentmatch.data.dataset_readers.single_sentence_formats import (
    Example,
    Parts,
    directories,
    label_first,
    table,
    trec,
    two_files,
)
from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import (
    TokenizingReader,
    check_format_settings,
)
from allennlp_sentmatch.data.fields import LabelField
from allennlp_sentmatch.data.files.folds import split_data_path
from allennlp_sentmatch.data.files.lines import check_encoding
from allennlp_sentmatch.data.files.source import Source
from allennlp_sentmatch.data.files.table import Table


@DatasetReader.register("single_sentence")
class SingleSentenceReader(TokenizingReader):
    """Reads texts with a label: questions, opinions, reviews.

    The formats are

    - `trec`: TREC's question types, a line `COARSE:fine question` (latin-1).
    - `label_first`: a label, a tab, the text, the form of the 16 domains of FDU-MTL.
    - `two_files`: a sentence on each line, a file for each label, the form of MR, CR, SUBJ and MPQA
      (windows-1252, of which ASCII is a part). The path is a folder that has the two files and no
      other, and the labels are the files' suffixes (`rt-polarity.neg`: `neg`); or it is an object
      from labels to any number of files: `{"neg": "a.txt", "pos": "b.txt"}`.
    - `directories`: a text in each file, a folder for each label, the form of IMDb. The path is the
      folder of these folders; IMDb's `unsup`, which has no labels, is left out.
    - `table`: any tsv, csv or JSON lines; see the parameters.

    Files may be gzip-compressed, URLs, or `archive!member`; blank lines are skipped. For
    cross-validation (MR, CR, SUBJ, MPQA) or a validation set (TREC, IMDb) a part of the data can be
    read, the same part of each label's file or folder: see `Folds`.

    Fields: `tokens` (`TextField`), `label` (`LabelField`) where there is one, and `metadata` with
    `text`, `tokens` (a list of strings), and `id` where the data has one (`directories`: the
    folder and the file).

    Registered as a `DatasetReader` with name "single_sentence".

    # Parameters

    format : `str`
        One of the names above.
    granularity : `str`, optional (default = `"coarse"`)
        `trec`: `"coarse"` for the 6 labels before the colon, `"fine"` for the 50 whole ones, such
        as `NUM:date`.
    text : `Union[int, str]`, optional (default = `"text"`)
        `table`: the column with the text: a name (the file has a header, or is JSON lines) or a
        position counted from 0 (it has no header).
    label : `Union[int, str]`, optional (default = `"label"`)
        `table`: the column with the label; `null` for a file without labels.
    id : `Union[int, str]`, optional (default = `None`)
        `table`: the column with the text's id, if there is one.
    delimiter : `str`, optional (default = `None`)
        `table`: the string that separates the columns. By default the first line decides: `{`
        begins JSON lines, otherwise a tab if there is one, otherwise a comma.
    quoted : `bool`, optional (default = `None`)
        `table`: whether double quotes around a value protect its content; by default, if the
        delimiter is a comma.
    encoding : `str`, optional (default = `None`)
        The files' encoding. By default the one named above, otherwise UTF-8.
    max_length : `int`, optional (default = `None`)
        Tokens of a text past this many are left out.
    tokenizer : `Tokenizer`, optional (default = `SpacyBlankTokenizer()`)
        TREC, MR, CR, SUBJ and MPQA are tokenized already: `{"type": "whitespace"}` keeps that.
    token_indexers : `dict[str, TokenIndexer]`, optional
            (default = `{"tokens": SingleIdTokenIndexer()}`)
    """

    def __init__(
        self,
        format: str,
        granularity: str = "coarse",
        text: Union[int, str] = "text",
        label: Optional[Union[int, str]] = "label",
        id: Optional[Union[int, str]] = None,
        delimiter: Optional[str] = None,
        quoted: Optional[bool] = None,
        encoding: Optional[str] = None,
        max_length: Optional[int] = None,
        tokenizer: Optional[Tokenizer] = None,
        token_indexers: Optional[dict[str, TokenIndexer]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            tokenizer=tokenizer, token_indexers=token_indexers, max_length=max_length, **kwargs
        )
        formats: dict[str, tuple[str, Callable[..., Parts]]] = {
            "trec": ("latin-1", partial(trec, fine=granularity == "fine")),
            "label_first": ("utf-8", label_first),
            "two_files": ("windows-1252", two_files),
            "directories": ("utf-8", directories),
            "table": ("utf-8", partial(table, text=text, label=label, id=id)),
        }
        if format not in formats:
            raise ConfigurationError(f"format={format!r}: expected one of {', '.join(formats)}")
        if granularity not in ("coarse", "fine"):
            raise ConfigurationError(f"granularity={granularity!r}: expected 'coarse' or 'fine'")
        default_encoding, self._parts = formats[format]
        columns = {"text": text, "label": label, "id": id}
        form = {"delimiter": delimiter, "quoted": quoted}
        check_format_settings(SingleSentenceReader, format, "table", {**columns, **form})
        check_format_settings(SingleSentenceReader, format, "trec", {"granularity": granularity})
        if format == "table":
            rows = Table(columns, delimiter, quoted, optional=("label", "id"))
            self._parts = partial(self._parts, rows=rows)
        self._encoding = check_encoding(encoding or default_encoding)

    def _read(self, file_path: Any) -> Iterator[Instance]:
        file_path, in_folds = split_data_path(file_path)
        parts: Iterator[Iterator[Example]] = map(in_folds, self._parts(file_path, self._encoding))
        for example in self.shard_iterable(chain.from_iterable(parts)):
            yield self.text_to_instance(*example)

    def text_to_instance(
        self,
        text: str,
        label: Optional[str] = None,
        id: Optional[str] = None,
        source: Optional[Source] = None,
    ) -> Instance:
        """Make the instance of one text.

        # Parameters

        text : `str`
        label : `str`, optional (default = `None`)
        id : `str`, optional (default = `None`)
            The text's id in its data set.
        source : `Source`, optional (default = `None`)
            The text's file and line, for errors.

        # Returns

        `Instance`
            With the fields listed above.
        """
        field = self._text_field(text, "text")
        metadata: dict[str, Any] = {
            "text": text,
            "tokens": [token.text for token in field.tokens],
        }
        if id is not None:
            metadata["id"] = id
        fields: dict[str, Field[Any]] = {"tokens": field, "metadata": MetadataField(metadata)}
        if label is not None:
            fields["label"] = LabelField(label, source=source)
        return Instance(fields)
