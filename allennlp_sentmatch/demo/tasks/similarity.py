"""Scores of pairs."""

from collections.abc import Sequence

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo.tasks.classification import INPUTS
from allennlp_sentmatch.demo.tasks.example_texts import CAPTIONS, PARAPHRASES
from allennlp_sentmatch.demo.tasks.task import Answer, Example, Table, Task
from allennlp_sentmatch.models import ScoreModel
from allennlp_sentmatch.predictors import SentencePairPredictor


class Similarity(Task):
    """Scores the similarity of two sentences."""

    title = "Sentence pairs"
    verb = "Compare"
    inputs = [INPUTS["premise"], INPUTS["hypothesis"]]

    @classmethod
    def accepts(cls, predictor: Predictor) -> bool:
        """Whether it predicts scores of pairs."""
        return isinstance(predictor, SentencePairPredictor) and isinstance(
            predictor._model, ScoreModel
        )

    def examples(self) -> Sequence[Example]:
        """Pairs of more and of less similar sentences."""
        return PARAPHRASES + CAPTIONS

    def answer(self, output: JsonDict) -> Answer:
        """The score and its scale."""
        model = self._predictor._model
        scale = f"{model.lowest_score:g} to {model.highest_score:g}"
        return Table("Similarity", ("Score", "Scale"), [(f"{output['score']:.2f}", scale)])
