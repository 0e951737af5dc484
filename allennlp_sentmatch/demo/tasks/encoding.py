"""Vectors of sentences."""

from collections.abc import Sequence

import numpy
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo.tasks.classification import INPUTS
from allennlp_sentmatch.demo.tasks.example_texts import CAPTIONS, QUESTIONS
from allennlp_sentmatch.demo.tasks.task import Answer, Example, Table, Task
from allennlp_sentmatch.predictors import SentenceVectorPredictor


class Encoding(Task):
    """Encodes a sentence; the search finds its neighbors."""

    title = "Sentence vectors"
    verb = "Encode"
    inputs = [INPUTS["sentence"]]

    @classmethod
    def accepts(cls, predictor: Predictor) -> bool:
        """Whether it encodes sentences."""
        return isinstance(predictor, SentenceVectorPredictor)

    def examples(self) -> Sequence[Example]:
        """Sentences and questions."""
        return [*dict.fromkeys((first,) for first, _ in CAPTIONS), *QUESTIONS]

    def answer(self, output: JsonDict) -> Answer:
        """The vector's size, and its first numbers."""
        vector = output["vector"]
        first = ", ".join(f"{number:.3f}" for number in vector[:4])
        row = (str(len(vector)), f"{numpy.linalg.norm(vector):.3f}", f"{first}, …")
        return Table("Vector", ("Dimensions", "Length", "First numbers"), [row])
