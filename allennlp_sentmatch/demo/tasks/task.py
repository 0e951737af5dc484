"""The base class of the demo's tasks."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Union

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo.text_input import TextInput

Example = tuple[str, ...]


class Table(NamedTuple):
    """An answer of several rows."""

    caption: str
    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


Answer = Union[dict[str, float], Table]
"""The probability of each label, or a table."""


class Task(ABC):
    """The input texts of the page for one kind of predictor, and how it shows an answer.

    To add a page for another kind of predictor, add a subclass to `TASKS`. Pictures are drawn from
    the predictor's output and need nothing here.

    # Parameters

    predictor : `Predictor`
        One that the class accepts.

    # Attributes

    title : `str`
        The page's heading.
    verb : `str`
        The text of the button.
    inputs : `list[TextInput]`
        The texts that the predictor takes.
    shows_probabilities : `bool`
        Whether answers are probabilities of labels rather than tables.
    search_note : `str`
        A remark on searching with the model's sentence vectors.
    """

    title: str
    verb: str
    inputs: list[TextInput]
    shows_probabilities = False
    search_note = ""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    @classmethod
    @abstractmethod
    def accepts(cls, predictor: Predictor) -> bool:
        """Whether this is the task of a predictor."""

    @abstractmethod
    def examples(self) -> Sequence[Example]:
        """Examples to try, each with a text for each of `inputs`."""

    @abstractmethod
    def answer(self, output: JsonDict) -> Answer:
        """The answer in a predictor's output."""

    def describe_example(self, example: Example) -> str:
        """One line about an example, for its button."""
        return " → ".join(example)
