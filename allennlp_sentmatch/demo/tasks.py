"""The demo's tasks: the texts that visitors enter for each kind of predictor, and its answer."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple, Optional, Union

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.models import ScoreModel
from allennlp_sentmatch.predictors import (
    AnswerExtractorPredictor,
    AnswerRankerPredictor,
    SentencePairPredictor,
    SentenceVectorPredictor,
    TranslationPredictor,
)
from allennlp_sentmatch.predictors.classification_predictor import ClassificationPredictor
from allennlp_sentmatch.standalone.texts import is_blank

MAX_CHARACTERS = 1000
"""The length of the longest text that is accepted."""

MAX_TOKENS = 60
"""The largest number of tokens in a text: a picture has a row or a column for each."""

MAX_CANDIDATES = 10
"""The largest number of answers that are ranked."""

MAX_TRANSLATIONS = 5

Example = tuple[str, ...]

_TEXTS = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
"""Texts to try a model with, all written for this page."""


def _examples(name: str) -> list[Example]:
    return [tuple(texts) for texts in _TEXTS[name]]


CAPTIONS = _examples("captions")
CAPTION: list[Example] = [(text,) for text in dict.fromkeys(pair[0] for pair in CAPTIONS)]
PARAPHRASES = _examples("paraphrases")
QUESTIONS = _examples("questions")
QUICK_START = _examples("quick_start")
REVIEWS = _examples("reviews")

CORPUS: list[str] = [
    *dict.fromkeys(text for pair in CAPTIONS + QUICK_START for text in pair),
    *_TEXTS["more_to_search"],
]
"""Sentences to search."""


class InputError(ValueError):
    """An entered text is not accepted; the message says why."""


@dataclass(frozen=True)
class TextInput:
    """A text that a model reads."""

    name: str
    """Its key in the predictor's JSON."""
    label: str
    """Its name on the page."""
    noun: str = ""
    """The word for it, or for an element of a list, in messages; `name` by default."""
    field: str = ""
    """Its field in the predictor's instances; `name` by default."""
    lines: int = 1
    """The height of its box, which grows up to 10 lines."""
    one_per_line: bool = False
    """Whether the text is a list, with one element a line."""
    max_characters: int = MAX_CHARACTERS
    max_tokens: int = MAX_TOKENS

    def read(self, text: Optional[str]) -> Union[str, list[str]]:
        """The predictor's value for a typed text; an `InputError` if it is empty or too long."""
        if not self.one_per_line:
            return checked_text(text, self.noun or self.name, self.max_characters)
        lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
        if not lines:
            raise InputError("Please write at least one possible answer, each on its own line.")
        if len(lines) > MAX_CANDIDATES:
            raise InputError(
                f"There are {len(lines)} possible answers; at most {MAX_CANDIDATES} are ranked."
            )
        return [checked_text(line, self.noun or self.name, self.max_characters) for line in lines]

    def check_length(self, num_tokens: int) -> None:
        """Check the number of tokens of the text, or of an element of a list."""
        if num_tokens > self.max_tokens:
            raise InputError(
                f"The {self.noun or self.name} has {num_tokens} words and marks; at most "
                f"{self.max_tokens} are read here."
            )


def checked_text(text: Optional[str], name: str, max_characters: int = MAX_CHARACTERS) -> str:
    """A text without the white space around it; an `InputError` if it is empty or too long."""
    text = (text or "").strip()
    if is_blank(text):
        raise InputError(f"Please write a {name}: there is nothing to read yet.")
    if len(text) > max_characters:
        raise InputError(
            f"The {name} has {len(text):,} characters; at most {max_characters:,} are read here."
        )
    return text


PREMISE = TextInput("premise", "First sentence (premise)")
HYPOTHESIS = TextInput("hypothesis", "Second sentence (hypothesis)")
SENTENCE = TextInput("sentence", "Sentence", field="tokens")


class Table(NamedTuple):
    """An answer of several rows."""

    caption: str
    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


Answer = Union[dict[str, float], Table]
"""The probability of each label, or a table."""


class Task(ABC):
    """One kind of predictor on the page; `predictor` is one that the class accepts.

    To add a page for another kind of predictor, add a subclass to `TASKS`. Pictures are drawn from
    the predictor's output and need nothing here.
    """

    accepted: ClassVar[type[Predictor]]
    """The class of the predictors."""
    title: str
    """The page's heading."""
    verb: str
    """The text of the button."""
    inputs: list[TextInput]
    """The texts that the predictor takes."""
    texts: Sequence[Example] = ()
    """The examples, unless `examples` chooses them by the model."""
    shows_probabilities = False
    """Whether answers are probabilities of labels rather than tables."""
    search_note = ""
    """A remark on searching with the model's sentence vectors."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    @classmethod
    def accepts(cls, predictor: Predictor) -> bool:
        """Whether this is the task of a predictor."""
        return isinstance(predictor, cls.accepted)

    def examples(self) -> Sequence[Example]:
        """Examples to try, each with a text for each of `inputs`."""
        return self.texts

    @abstractmethod
    def answer(self, output: JsonDict) -> Answer:
        """The answer in a predictor's output."""

    def describe_example(self, example: Example) -> str:
        """One line about an example, for its button."""
        return " → ".join(example)


class AnswerRanking(Task):
    """Ranks the answers to a question."""

    accepted = AnswerRankerPredictor
    title = "Answers to a question"
    verb = "Rank"
    inputs = [
        TextInput("question", "Question"),
        TextInput(
            "candidates", "Possible answers, one per line", "answer", lines=4, one_per_line=True
        ),
    ]
    texts = _examples("answers")

    def answer(self, output: JsonDict) -> Answer:
        """The answers with their scores, the best first."""
        rows = [(f"{rank['score']:.3f}", rank["candidate"]) for rank in output["ranking"]]
        return Table("Answers, the best first", ("Score", "Answer"), rows)

    def describe_example(self, example: Example) -> str:
        """The question and the number of its answers."""
        question, answers = example
        return f"{question} ({len(answers.splitlines())} answers)"


class Similarity(Task):
    """Scores the similarity of two sentences."""

    accepted = SentencePairPredictor
    title = "Sentence pairs"
    verb = "Compare"
    inputs = [PREMISE, HYPOTHESIS]
    texts = PARAPHRASES + CAPTIONS

    @classmethod
    def accepts(cls, predictor: Predictor) -> bool:
        """Whether it predicts scores of pairs."""
        return super().accepts(predictor) and isinstance(predictor._model, ScoreModel)

    def answer(self, output: JsonDict) -> Answer:
        """The score and its scale."""
        model = self._predictor._model
        scale = f"{model.lowest_score:g} to {model.highest_score:g}"
        return Table("Similarity", ("Score", "Scale"), [(f"{output['score']:.2f}", scale)])


class Classification(Task):
    """Predicts the label of one or two sentences."""

    accepted = ClassificationPredictor
    verb = "Classify"
    shows_probabilities = True
    search_note = "A classifier learns vectors for its labels: their cosines are not similarities."

    def __init__(self, predictor: ClassificationPredictor) -> None:
        super().__init__(predictor)
        inputs = {text_input.name: text_input for text_input in (PREMISE, HYPOTHESIS, SENTENCE)}
        self.inputs = [inputs[key] for key in predictor.input_keys[0]]
        self.title = "Sentence pairs" if len(self.inputs) == 2 else "Sentences"

    def examples(self) -> Sequence[Example]:
        """Examples for the labels."""
        model = self._predictor._model
        labels = model.vocab.get_token_to_index_vocabulary(str(model._label_namespace))
        if len(self.inputs) == 1:
            return QUESTIONS + REVIEWS if "NUM" in labels else REVIEWS
        return CAPTIONS + QUICK_START if "entailment" in labels else PARAPHRASES + CAPTIONS

    def answer(self, output: JsonDict) -> Answer:
        """The labels' probabilities."""
        return dict(output["probs_by_label"])


class Encoding(Task):
    """Encodes a sentence; the search finds its neighbors."""

    accepted = SentenceVectorPredictor
    title = "Sentence vectors"
    verb = "Encode"
    inputs = [SENTENCE]
    texts = [*CAPTION, *QUESTIONS]

    def answer(self, output: JsonDict) -> Answer:
        """The vector's size, and its first numbers."""
        vector = output["vector"]
        first = ", ".join(f"{number:.3f}" for number in vector[:4])
        row = (str(len(vector)), f"{numpy.linalg.norm(vector):.3f}", f"{first}, …")
        return Table("Vector", ("Dimensions", "Length", "First numbers"), [row])


class Translation(Task):
    """Translates a sentence."""

    accepted = TranslationPredictor
    title = "Translation"
    verb = "Translate"
    inputs = [TextInput("source", "Sentence", noun="sentence", field="source_tokens")]

    def examples(self) -> Sequence[Example]:
        """Sentences in the source language, or in English and German if it is not known."""
        by_language = {"de": _examples("german_captions"), "en": CAPTION}
        tokenizers = getattr(self._predictor._dataset_reader, "_tokenizers", {})
        language = getattr(tokenizers.get("source"), "language", None)
        return by_language.get(str(language), [*by_language["de"], *by_language["en"]])

    def answer(self, output: JsonDict) -> Answer:
        """The best translations with their scores."""
        scores: dict[str, float] = {}  # several lists of tokens may be the same text
        for beam in output["n_best"]:
            scores.setdefault(beam["target"], beam["score"])
        rows = [(f"{score:.2f}", target) for target, score in scores.items()]
        headers = ("Score", "Translation")
        return Table("Translations, the best first", headers, rows[:MAX_TRANSLATIONS])


class ReadingComprehension(Task):
    """Answers a question by a part of a passage."""

    accepted = AnswerExtractorPredictor
    title = "Reading comprehension"
    verb = "Answer"
    inputs = [
        TextInput("passage", "Passage", lines=6, max_characters=5000, max_tokens=800),
        TextInput("question", "Question"),
    ]
    texts = _examples("passages")

    def answer(self, output: JsonDict) -> Answer:
        """The most probable answers; spans with the same text are shown once."""
        probabilities: dict[str, float] = {}
        for span in output["n_best"]:
            probabilities.setdefault(span["answer"], span["probability"])
        rows = [(f"{probability:.3f}", answer) for answer, probability in probabilities.items()]
        return Table("Answers, the most probable first", ("Probability", "Answer"), rows)

    def describe_example(self, example: Example) -> str:
        """The question and the beginning of the passage."""
        passage, question = example
        return f"{question} ({' '.join(passage.split()[:4])} …)"


TASKS: list[type[Task]] = [
    AnswerRanking,
    Similarity,
    Classification,
    Encoding,
    Translation,
    ReadingComprehension,
]
"""The first one that accepts a predictor is its task."""


def task_of(predictor: Predictor) -> Task:
    """The task of a predictor; a `ConfigurationError` if there is none."""
    for task in TASKS:
        if task.accepts(predictor):
            return task(predictor)
    raise ConfigurationError(
        f"the demo has no page for {type(predictor).__name__}; it has pages for "
        f"{', '.join(task.__name__ for task in TASKS)}"
    )
