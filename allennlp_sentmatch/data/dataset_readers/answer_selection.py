"""Questions with the sentences that may answer them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import Field, ListField, TensorField
from allennlp.data.instance import Instance

from allennlp_sentmatch.data.dataset_readers.formats import ANSWERS
from allennlp_sentmatch.data.dataset_readers.formatted_reader import FormattedReader
from allennlp_sentmatch.data.instances import instance_of, words_of
from allennlp_sentmatch.data.word_features import compared_words
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.files.row import Column, Row, Source


@dataclass
class _Group:
    """A question, whose first row is at `source`, and the candidates of the rows so far."""

    question: str
    id: Optional[str]
    source: Source
    candidates: list[str] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    candidate_ids: list[str] = field(default_factory=list)

    def add(
        self,
        row: Row,
        candidate: str,
        label: Optional[str],
        candidate_id: Optional[str],
    ) -> None:
        """Add the candidate of a row. Raise `ValueError` for a wrong label or a missing id."""
        self.candidates.append(candidate)
        if label is not None:
            if label not in ("0", "1"):
                raise row.error(f"expected the label 0 or 1, got {shorten(label)}")
            self.labels.append(int(label))
        if candidate_id is not None:
            self.candidate_ids.append(candidate_id)
        if len(self.candidate_ids) not in (0, len(self.candidates)):
            raise row.error(
                "either all candidates of a question have an id, or none has; this row "
                f"{'has' if candidate_id is not None else 'lacks'} one"
            )


@DatasetReader.register("answer_selection")
class AnswerSelectionReader(FormattedReader):
    """Reads answer selection data: an instance is one question with all its candidates.

    Each row of a file has a question and one candidate. The formats are

    - `wikiqa`: WikiQA's tsv with its header. Rows of one `QuestionID` belong together.
    - `trecqa`: TrecQA as csv with the header `qtext,label,atext`. Rows with the same question text
      belong together, and the Penn Treebank's escapes are undone (`-LRB-` is read as a bracket).
    - `table`: any tsv, csv or JSON lines; see the parameters.

    All questions are read: the metrics decide whether to leave out questions without a right or
    without a wrong candidate, as the "cleaned" setting does.

    Fields:

    - `question` (`TextField`)
    - `candidates` (`ListField` of `TextField`), in the file's order
    - `labels` (`TensorField`, int64, (candidates,)): 1 for a right answer, 0 for a wrong one; in a
      batch, -1 if a question has no further candidate. Absent if the data have no labels.
    - `word_features` (`TensorField`, float32, (candidates, 16)), with the setting of this name
    - `metadata` (`MetadataField`): `question`, `candidates` (the texts), `question_tokens`,
      `candidate_tokens`, and `id` and `candidate_ids` if the data have them

    # Parameters

    format : `str`
        One of the names above.
    question, candidate : `Union[int, str]`, optional (default = `"question"`, `"candidate"`)
        `table`: the columns with the texts.
    label : `Union[int, str]`, optional (default = `"label"`)
        `table`: the column with 1 for a right answer and 0 for a wrong one; `null` for a file
        without labels.
    question_id : `Union[int, str]`, optional (default = `None`)
        `table`: the column whose value the rows of one question share; by default, the question.
    candidate_id : `Union[int, str]`, optional (default = `None`)
        `table`: the column with the candidate's id, if there is one.
    word_features : `bool`, optional (default = `False`)
        Whether an instance has features of the English words of each candidate and the question, as
        in `SentencePairReader`. An `attentive_ranker` reads them with `num_word_features=16`.
    delimiter, quoted, encoding, max_length, tokenizer, token_indexers : as in `FormattedReader`
        TrecQA is tokenized already: `{"type": "whitespace"}` keeps that.
    """

    FORMATS = ANSWERS

    SIDES = ("question",)

    @inherits_settings(FormattedReader)
    def __init__(
        self,
        format: str,
        question: Column = "question",
        candidate: Column = "candidate",
        label: Optional[Column] = "label",
        question_id: Optional[Column] = None,
        candidate_id: Optional[Column] = None,
        word_features: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(format, **settings)
        self._has_word_features = word_features
        columns = {
            "question": question,
            "candidate": candidate,
            "label": label,
            "question_id": question_id,
            "candidate_id": candidate_id,
        }
        self._choose_format(columns)

    def _read(self, file_path: Any) -> Iterator[Instance]:
        for group in self._shared(file_path):
            yield self.text_to_instance(
                group.question,
                group.candidates,
                group.labels or None,
                group.id,
                group.candidate_ids or None,
            )

    def _parts(self, path: Any) -> Iterable[Iterable[_Group]]:
        """Return the file's rows by question, in the order in which the questions first appear."""
        columns = self._columns
        groups: dict[Union[str, tuple[str, ...]], _Group] = {}
        for row, label in self._rows(path, self._label):
            question = row.text(columns["question"])
            id = row.joined(columns["question_id"])
            words = tuple(question.split())  # without repeated spaces and spaces at the end
            # An id and a question may be the same string.
            key = words if id is None else id
            group = groups.setdefault(key, _Group(question, id, row.source))
            if words != tuple(group.question.split()):
                raise row.error(
                    f"the question id {shorten(id)} belongs to another question in {group.source}"
                )
            candidate = row.text(columns["candidate"])
            group.add(row, candidate, label, row.joined(columns["candidate_id"]))
        return [groups.values()]

    def sentences(self, example: Any) -> tuple[str, ...]:
        """Return the question."""
        return (" ".join(example.question.split()),)

    def text_to_instance(
        self,
        question: str,
        candidates: Sequence[str],
        labels: Optional[Sequence[int]] = None,
        id: Optional[str] = None,
        candidate_ids: Optional[Sequence[str]] = None,
    ) -> Instance:
        """Make the instance of one question and the sentences that may answer it.

        It has the fields listed above. The `id` is the question's in its data set. Raise
        `ConfigurationError` if there is no candidate, or a wrong number of labels.
        """
        if isinstance(candidates, str) or not isinstance(candidates, Sequence) or not candidates:
            raise ConfigurationError(
                f"candidates must be a list of at least one string, not {candidates!r}"
            )
        question_field = self._text_field(question, "question")
        candidate_fields = [self._text_field(text, "each of the candidates") for text in candidates]
        fields: dict[str, Optional[Field[Any]]] = {
            "question": question_field,
            "candidates": ListField(candidate_fields),
            "labels": None if labels is None else _label_field(labels, len(candidates)),
        }
        if self._has_word_features:
            questions = [question] * len(candidates)
            fields["word_features"] = TensorField(compared_words(questions, candidates))
        metadata = {
            "question": question,
            "candidates": list(candidates),
            "question_tokens": words_of(question_field),
            "candidate_tokens": [words_of(field) for field in candidate_fields],
            "id": id,
            "candidate_ids": None if candidate_ids is None else list(candidate_ids),
        }
        return instance_of(fields, metadata)


def _label_field(labels: Sequence[int], num_candidates: int) -> TensorField:
    """Return the labels (num_candidates,). Raise `ConfigurationError` for a wrong one."""
    if len(labels) != num_candidates:
        raise ConfigurationError(f"there are {len(labels)} labels for {num_candidates} candidates")
    if any(label not in (0, 1) for label in labels):
        raise ConfigurationError(f"labels must be 0 or 1, got {list(labels)!r}")
    return TensorField(torch.tensor(labels), padding_value=-1)
