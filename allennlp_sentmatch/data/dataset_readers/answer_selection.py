"""Questions with the sentences that may answer them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Callable, Optional, Union

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import Field, ListField, MetadataField, TensorField
from allennlp.data.instance import Instance
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Tokenizer

from allennlp_sentmatch.data.dataset_readers.label_presence import all_or_none_labeled
from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import (
    TokenizingReader,
    check_format_settings,
)
from allennlp_sentmatch.data.files.delimited import delimited_rows
from allennlp_sentmatch.data.files.folds import split_data_path
from allennlp_sentmatch.data.files.lines import PathOrStr, check_encoding
from allennlp_sentmatch.data.files.penn_treebank import unescape
from allennlp_sentmatch.data.files.row import Column, Row
from allennlp_sentmatch.data.files.source import Source
from allennlp_sentmatch.data.files.table import Table
from allennlp_sentmatch.data.text import shorten

FORMATS: dict[str, dict[str, Optional[str]]] = {
    "wikiqa": {
        "question": "Question",
        "candidate": "Sentence",
        "label": "Label",
        "question_id": "QuestionID",
        "candidate_id": "SentenceID",
    },
    "trecqa": {"question": "qtext", "candidate": "atext", "label": "label"},
}


@dataclass
class _Group:
    question: str
    id: Optional[str]
    source: Source
    candidates: list[str] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    candidate_ids: list[str] = field(default_factory=list)


@DatasetReader.register("answer_selection")
class AnswerSelectionReader(TokenizingReader):
    """Reads answer selection data: an instance is one question with all its candidates.

    A file has a question and one candidate a row.

    The formats are

    - `wikiqa`: WikiQA's tsv with its header. Rows of one `QuestionID` belong together.
    - `trecqa`: TrecQA as csv with the header `qtext,label,atext`. Rows with the same question text
      belong together, and the Penn Treebank's escapes are undone (`-LRB-` is read as a bracket).
    - `table`: any tsv, csv or JSON lines; see the parameters.

    All questions are read, even those without a right or without a wrong candidate: the metrics
    decide whether to leave them out, as the "cleaned" setting does. Files may be gzip-compressed,
    URLs, or `archive!member`.

    Fields:

    - `question` (`TextField`)
    - `candidates` (`ListField` of `TextField`), in the file's order
    - `labels` (`TensorField`, int64, (candidates,)): 1 for a right answer, 0 for a wrong one; in a
      batch, -1 where a question has no further candidate. Absent where the data has no labels.
    - `metadata` (`MetadataField`): `question`, `candidates` (the texts), `question_tokens`,
      `candidate_tokens`, and `id` and `candidate_ids` where the data has them

    Registered as a `DatasetReader` with name "answer_selection".

    # Parameters

    format : `str`
        One of the names above.
    question, candidate : `Union[int, str]`, optional (default = `"question"`, `"candidate"`)
        `table`: the columns with the texts: names (the file has a header, or is JSON lines) or
        positions counted from 0 (it has no header).
    label : `Union[int, str]`, optional (default = `"label"`)
        `table`: the column with 1 for a right answer and 0 for a wrong one; `null` for a file
        without labels.
    question_id : `Union[int, str]`, optional (default = `None`)
        `table`: the column whose value the rows of one question share; by default, the question.
    candidate_id : `Union[int, str]`, optional (default = `None`)
        `table`: the column with the candidate's id, if there is one.
    delimiter : `str`, optional (default = `None`)
        `table`: the string that separates the columns. By default the first line decides: `{`
        begins JSON lines, otherwise a tab if there is one, otherwise a comma.
    quoted : `bool`, optional (default = `None`)
        `table`: whether double quotes around a value protect its content; by default, if the
        delimiter is a comma.
    encoding : `str`, optional (default = `"utf-8"`)
        The file's encoding.
    max_length : `int`, optional (default = `None`)
        Tokens of a question or candidate past this many are left out.
    tokenizer : `Tokenizer`, optional (default = `SpacyBlankTokenizer()`)
        TrecQA is tokenized already: `{"type": "whitespace"}` keeps that.
    token_indexers : `dict[str, TokenIndexer]`, optional
            (default = `{"tokens": SingleIdTokenIndexer()}`)
    """

    def __init__(
        self,
        format: str,
        question: Union[int, str] = "question",
        candidate: Union[int, str] = "candidate",
        label: Optional[Union[int, str]] = "label",
        question_id: Optional[Union[int, str]] = None,
        candidate_id: Optional[Union[int, str]] = None,
        delimiter: Optional[str] = None,
        quoted: Optional[bool] = None,
        encoding: str = "utf-8",
        max_length: Optional[int] = None,
        tokenizer: Optional[Tokenizer] = None,
        token_indexers: Optional[dict[str, TokenIndexer]] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            tokenizer=tokenizer, token_indexers=token_indexers, max_length=max_length, **kwargs
        )
        self._columns: dict[str, Optional[Column]] = {
            "question": question,
            "candidate": candidate,
            "label": label,
            "question_id": question_id,
            "candidate_id": candidate_id,
        }
        form = {"delimiter": delimiter, "quoted": quoted}
        check_format_settings(AnswerSelectionReader, format, "table", {**self._columns, **form})
        if format == "table":
            optional = ("label", "question_id", "candidate_id")
            table = Table(self._columns, delimiter, quoted, optional)
            self._rows: Callable[..., Iterator[Row]] = table.rows
        elif format in FORMATS:
            self._columns = dict(FORMATS[format])
            quoted = format == "trecqa"
            delimiter = "," if quoted else "\t"
            self._rows = partial(delimited_rows, delimiter=delimiter, quoted=quoted)
        else:
            raise ConfigurationError(
                f"format={format!r}: expected one of {', '.join([*FORMATS, 'table'])}"
            )
        self._escaped = format == "trecqa"
        self._encoding = check_encoding(encoding)

    def _read(self, file_path: Any) -> Iterator[Instance]:
        file_path, in_folds = split_data_path(file_path)
        for group in self.shard_iterable(in_folds(self._groups(file_path))):
            yield self.text_to_instance(
                group.question,
                group.candidates,
                group.labels or None,
                group.id,
                group.candidate_ids or None,
            )

    def _groups(self, file_path: PathOrStr) -> list[_Group]:
        """The file's rows by question, in the order in which the questions first appear."""
        columns = {name: [column] for name, column in self._columns.items() if column is not None}
        labels = columns.get("label", ())
        rows = self._rows(file_path, encoding=self._encoding)
        groups: dict[Union[str, tuple[str]], _Group] = {}
        for row, label in all_or_none_labeled((row, row.label(labels)) for row in rows):
            question = row.text(columns["question"])
            candidate = row.text(columns["candidate"])
            if self._escaped:
                question, candidate = unescape(question), unescape(candidate)
            id = row.joined(columns.get("question_id", ()))
            # An id and a question may be the same string.
            key = (question,) if id is None else id
            group = groups.setdefault(key, _Group(question, id, row.source))
            if question != group.question:
                raise row.error(
                    f"the question id {shorten(id)} belongs to another question in {group.source}"
                )
            group.candidates.append(candidate)
            if label is not None:
                if label not in ("0", "1"):
                    raise row.error(f"expected the label 0 or 1, got {shorten(label)}")
                group.labels.append(int(label))
            candidate_id = row.joined(columns.get("candidate_id", ()))
            if candidate_id is not None:
                group.candidate_ids.append(candidate_id)
            if len(group.candidate_ids) not in (0, len(group.candidates)):
                raise row.error(
                    "either all candidates of a question have an id, or none has; this row "
                    f"{'has' if candidate_id is not None else 'lacks'} one"
                )
        return list(groups.values())

    def text_to_instance(
        self,
        question: str,
        candidates: Sequence[str],
        labels: Optional[Sequence[int]] = None,
        id: Optional[str] = None,
        candidate_ids: Optional[Sequence[str]] = None,
    ) -> Instance:
        """Make the instance of one question.

        # Parameters

        question : `str`
        candidates : `Sequence[str]`
            At least one sentence that may answer it.
        labels : `Sequence[int]`, optional (default = `None`)
            For each candidate 1 if it is right, 0 if it is wrong.
        id : `str`, optional (default = `None`)
            The question's id in its data set.
        candidate_ids : `Sequence[str]`, optional (default = `None`)
            The ids of the candidates.

        # Returns

        `Instance`
            With the fields listed above.
        """
        if isinstance(candidates, str) or not isinstance(candidates, Sequence) or not candidates:
            raise ConfigurationError(
                f"candidates must be a list of at least one string, not {candidates!r}"
            )
        question_field = self._text_field(question, "question")
        candidate_fields = [self._text_field(text, "each of the candidates") for text in candidates]
        metadata: dict[str, Any] = {
            "question": question,
            "candidates": list(candidates),
            "question_tokens": [token.text for token in question_field.tokens],
            "candidate_tokens": [[token.text for token in f.tokens] for f in candidate_fields],
        }
        fields: dict[str, Field[Any]] = {
            "question": question_field,
            "candidates": ListField(candidate_fields),
        }
        if labels is not None:
            if len(labels) != len(candidates):
                raise ConfigurationError(
                    f"there are {len(labels)} labels for {len(candidates)} candidates"
                )
            if any(label not in (0, 1) for label in labels):
                raise ConfigurationError(f"labels must be 0 or 1, got {list(labels)!r}")
            fields["labels"] = TensorField(torch.tensor(labels), padding_value=-1)
        if id is not None:
            metadata["id"] = id
        if candidate_ids is not None:
            metadata["candidate_ids"] = list(candidate_ids)
        fields["metadata"] = MetadataField(metadata)
        return Instance(fields)
