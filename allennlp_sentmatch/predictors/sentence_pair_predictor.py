"""Predictions for sentence pairs in JSON."""

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors.classification_predictor import ClassificationPredictor


@Predictor.register("sentence_pair")
class SentencePairPredictor(ClassificationPredictor):
    """Predicts the relation of two sentences.

    Takes `{"premise": ..., "hypothesis": ...}` or `{"sentence1": ..., "sentence2": ...}`; see
    `ClassificationPredictor` for the output.

    Registered as a `Predictor` with name "sentence_pair".
    """

    input_keys = [("premise", "hypothesis"), ("sentence1", "sentence2")]

    def predict(self, premise: str, hypothesis: str) -> JsonDict:
        """The prediction for one pair."""
        return self.predict_json({"premise": premise, "hypothesis": hypothesis})
