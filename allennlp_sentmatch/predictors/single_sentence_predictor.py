"""Predictions for single sentences in JSON."""

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors.classification_predictor import ClassificationPredictor


@Predictor.register("single_sentence")
class SingleSentencePredictor(ClassificationPredictor):
    """Predicts the label of a sentence.

    Takes `{"sentence": ...}` or `{"text": ...}`; see `ClassificationPredictor` for the output.

    Registered as a `Predictor` with name "single_sentence".
    """

    input_keys = [("sentence",), ("text",)]

    def predict(self, sentence: str) -> JsonDict:
        """The prediction for one sentence."""
        return self.predict_json({"sentence": sentence})
