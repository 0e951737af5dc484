"""Questions about passages."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import IndexField, TextField
from allennlp.data.instance import Instance
from allennlp.data.tokenizers import Token

from allennlp_sentmatch.data.dataset_readers.answer_spans import (
    AnswerSpan,
    Span,
    best_overlap_span,
    covering_span,
    verbatim_span,
)
from allennlp_sentmatch.data.dataset_readers.formats import QUESTIONS
from allennlp_sentmatch.data.dataset_readers.formatted_reader import FormattedReader
from allennlp_sentmatch.data.instances import instance_of, words_of
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.files.row import Column
from allennlp_sentmatch.nn.checks import COUNT, check_kind, number, optional

logger = logging.getLogger(__name__)


class _Passage(NamedTuple):
    """A passage of T tokens, each with its first character and the one after its last."""

    text: str
    field: TextField
    tokens: list[str]
    offsets: list[Span]
    is_cut: bool


@DatasetReader.register("reading_comprehension")
class ReadingComprehensionReader(FormattedReader):
    """Reads questions about passages, with their answers: spans of the passage or free text.

    The formats are

    - `squad`: SQuAD 1.1's JSON. The offset of the first answer is used; it may be missing.
    - `narrativeqa`: the authors' `qaps.csv` and `summaries.csv`; the summary is the passage. A data
      path is an object: `{"questions": "qaps.csv", "summaries": "summaries.csv", "set": "train"}`;
      the sets are `train`, `valid` and `test`.
    - `fairytaleqa`: JSON lines with `question`, `context`, `answers` (a list of strings) and `id`.
    - `table`: any tsv, csv or JSON lines; see the parameters.

    A model learns to find a span, which is the first of these that exists:

    1. the tokens with the characters of the first answer, if its offset is given;
    2. the first occurrence of the first answer that the passage has word for word;
    3. the span with the best ROUGE-L F1 against one of the answers: `best_overlap_span`.

    In evaluation all answers are references. Questions without answers are read for prediction. The
    log counts the three kinds of spans, and the passages that were cut.

    Fields:

    - `question`, `passage` (`TextField`)
    - `span_start`, `span_end` (`IndexField`): the span's first and last token, if there are answers
    - `metadata` (`MetadataField`): `question`, `passage` (the texts), `question_tokens`,
      `passage_tokens` (lists of strings), `passage_offsets` (the first character of each of the
      passage's tokens, and the one after its last), and `id` and `answers` (a list of strings) if
      the data have them

    Questions in a row about the same passage share its field.

    # Parameters

    format : `str`
        One of the names above.
    question, passage : `Union[int, str]`, optional (default = `"question"`, `"passage"`)
        `table`: their columns.
    answers : `Union[int, str]`, optional (default = `"answers"`)
        `table`: the column with the answer or, in JSON lines, a list of them; `null` for a file
        without answers.
    id : `Union[int, str]`, optional (default = `None`)
        `table`: the column with the question's id, if there is one.
    max_passage_length : `int`, optional (default = `None`)
        Tokens of a passage past this many are left out. An answer past them is searched for in the
        rest.
    min_overlap : `float`, optional (default = `None`)
        Questions whose span has a ROUGE-L F1 below this, from 0 to 1, are left out. For training
        only: archives, tests, and validation without a `validation_dataset_reader` read all.
    delimiter, quoted, encoding, tokenizer, token_indexers : as in `FormattedReader`
        The tokenizer must give the tokens' offsets or parts of the text, since answers are cut from
        it: `spacy_blank`, AllenNLP's `spacy` or `character`, without start or end tokens.
    """

    FORMATS = QUESTIONS
    SIDES = ("passage",)
    FOR_TRAINING = ("min_overlap",)

    @inherits_settings(FormattedReader)
    def __init__(
        self,
        format: str,
        question: Column = "question",
        passage: Column = "passage",
        answers: Optional[Column] = "answers",
        id: Optional[Column] = None,
        max_passage_length: Optional[int] = None,
        min_overlap: Optional[float] = None,
        **settings: Any,
    ) -> None:
        super().__init__(format, **settings)
        columns = {"question": question, "passage": passage, "answers": answers, "id": id}
        self._choose_format(columns)
        check_kind(optional(COUNT, "null"), max_passage_length=max_passage_length)
        check_kind(optional(number(least=0, most=1), "null"), min_overlap=min_overlap)
        self._max_passage_length = max_passage_length
        self.min_overlap = min_overlap

    def _read(self, file_path: Any) -> Iterator[Instance]:
        return islice(self._chosen(file_path), self.max_instances)

    def _chosen(self, file_path: Any) -> Iterator[Instance]:
        """Yield the questions that `min_overlap` does not leave out; log the kinds of spans."""
        columns = self._columns
        rules: Counter[str] = Counter()
        overlaps: list[float] = []
        num_cut = 0
        passage: Optional[_Passage] = None
        for row, answers in self._share(self.examples(file_path)):
            text = row.text(columns["passage"])
            if passage is None or passage.text != text:
                passage = self._passage(text)
            question = row.text(columns["question"])
            span = None
            rule = "none"
            if answers is not None:
                span, rule = self._target(passage, answers, row.find(columns["answer_start"]))
            rules[rule] += 1
            num_cut += passage.is_cut
            if span is not None and rule == "overlap":
                overlaps.append(span.overlap)
            if self._overlaps_too_little(span):
                self._left_out[f"with an overlap below min_overlap={self.min_overlap}"] += 1
            else:
                yield self._instance(question, passage, answers, span, row.joined(columns["id"]))
        logger.info(
            f"{file_path}: {sum(rules.values())} questions, {rules['none']} of them without "
            f"answers; the target is the answer at its offset for {rules['offset']}, an answer "
            f"that the passage has word for word for {rules['verbatim']}, the span with the best "
            f"ROUGE-L F1 for {len(overlaps)} (mean F1 {sum(overlaps) / max(len(overlaps), 1):.3f}, "
            f"{overlaps.count(0)} share no word with their passage); {num_cut} have a passage that "
            "was cut"
        )

    def _overlaps_too_little(self, span: Optional[AnswerSpan]) -> bool:
        """Return whether a question is left out because of `min_overlap`."""
        if span is None or self.min_overlap is None:
            return False
        return span.overlap < self.min_overlap

    def _parts(self, path: Any) -> Iterable[Iterable[Any]]:
        answers = self._columns["answers"]
        return [self._rows(path, lambda row: row.texts(answers), "right answer")]

    def sentences(self, example: Any) -> tuple[str, ...]:
        """Return the passage, about which there may be several questions."""
        return (example[0].text(self._columns["passage"]),)

    def text_to_instance(
        self,
        question: str,
        passage: str,
        answers: Optional[Sequence[str]] = None,
        id: Optional[str] = None,
    ) -> Instance:
        """Make the instance of one question, with the fields listed above.

        The `answers` contain at least one right answer, or are `None` for prediction; the `id`
        comes from the data set. Raise `ConfigurationError` for other `answers`.
        """
        tokenized = self._passage(passage)
        span = None
        if answers is not None:
            if not _are_strings(answers):
                raise ConfigurationError(
                    f"answers must be a list of at least one string, not {shorten(answers)}"
                )
            span, _ = self._target(tokenized, answers)
        return self._instance(question, tokenized, answers, span, id)

    def _passage(self, text: str) -> _Passage:
        """Return a passage with its first `max_passage_length` tokens."""
        tokens = self._tokenize(text, "passage")
        text_field = self._field_of_tokens(tokens[: self._max_passage_length])
        words = words_of(text_field)
        is_cut = len(words) < len(tokens)
        offsets = self._offsets(tokens[: len(words)], text)
        if not offsets:  # a passage without tokens gets an empty out-of-vocabulary token
            offsets = [(0, 0)]
        return _Passage(text, text_field, words, offsets, is_cut)

    def _offsets(self, tokens: list[Token], text: str) -> list[Span]:
        """Return the offsets of a text's tokens.

        Raise `ConfigurationError` unless the tokens are parts of the text, in their order.
        """
        offsets = []
        previous_end = 0
        for token in tokens:
            word = token.text or ""
            start = text.find(word, previous_end) if token.idx is None else token.idx
            end = start + len(word) if token.idx_end is None else token.idx_end
            if not previous_end <= start <= end:
                raise ConfigurationError(
                    f"the tokenizer {type(self._tokenizer).__name__} does not give the offset of "
                    f"the token {shorten(token.text)}, but answers are cut from the passage's "
                    "text: use spacy_blank, without start and end tokens"
                )
            offsets.append((start, end))
            previous_end = end
        return offsets

    def _target(
        self,
        passage: _Passage,
        answers: Sequence[str],
        start: Optional[int] = None,
    ) -> tuple[AnswerSpan, str]:
        """Return the span to learn, and by which of the reader's three rules.

        If given, `start` is the position of the first answer's first character; a cut passage may
        end before it.
        """
        if start is not None:
            span = _span_at(passage, start, start + len(answers[0]))
            if span is not None:
                return AnswerSpan(*span, overlap=1.0), "offset"
        for answer in answers:
            span = verbatim_span(passage.text, passage.offsets, answer)
            if span is not None:
                return AnswerSpan(*span, overlap=1.0), "verbatim"
        tokenized = [self._tokenize(answer, "an answer") for answer in answers]
        words = [[token.text or "" for token in tokens] for tokens in tokenized]
        return best_overlap_span(passage.tokens, words), "overlap"

    def _instance(
        self,
        question: str,
        passage: _Passage,
        answers: Optional[Sequence[str]],
        span: Optional[AnswerSpan],
        id: Optional[str],
    ) -> Instance:
        """Return the instance of a question, without a span if there are no answers."""
        question_field = self._text_field(question, "question")
        fields: dict[str, Any] = {"question": question_field, "passage": passage.field}
        if span is not None:
            fields["span_start"] = IndexField(span.start, passage.field)
            fields["span_end"] = IndexField(span.end, passage.field)
        metadata = {
            "question": question,
            "passage": passage.text,
            "question_tokens": words_of(question_field),
            "passage_tokens": passage.tokens,
            "passage_offsets": passage.offsets,
            "answers": None if answers is None else list(answers),
            "id": id,
        }
        return instance_of(fields, metadata)


def _are_strings(answers: Any) -> bool:
    """Return whether answers are a list of at least one string."""
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        return False
    return len(answers) > 0 and all(isinstance(answer, str) for answer in answers)


def _span_at(passage: _Passage, start: int, end: int) -> Optional[Span]:
    """Return the span of the characters from `start` to `end`; `None` if the passage lacks it."""
    if passage.is_cut and end > passage.offsets[-1][1]:
        return None
    return covering_span(passage.offsets, start, end)
