"""Predictions for sentence pairs in JSON."""

from typing import Any

import numpy
import torch
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import TensorField
from allennlp.predictors import Predictor

from allennlp_sentmatch.models import ScoreModel
from allennlp_sentmatch.predictors.classification_predictor import ClassificationPredictor


@Predictor.register("sentence_pair")
class SentencePairPredictor(ClassificationPredictor):
    """Predicts the relation of two sentences, or a score of their similarity.

    Takes `{"premise": ..., "hypothesis": ...}` or `{"sentence1": ..., "sentence2": ...}`; see
    `ClassificationPredictor` for the output. A model that predicts a score has `score` in its
    output, and neither a label nor probabilities.

    Registered as a `Predictor` with name "sentence_pair".
    """

    input_keys = [("premise", "hypothesis"), ("sentence1", "sentence2")]

    def predict(self, premise: str, hypothesis: str) -> JsonDict:
        """The prediction for one pair."""
        return self.predict_json({"premise": premise, "hypothesis": hypothesis})

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, "numpy.ndarray[Any, Any]"]
    ) -> list[Instance]:
        """The instance with the predicted label as its gold label, for saliency.

        For a model that predicts a score, it is the lowest score: at the predicted one, the loss
        can have its minimum, without a gradient.
        """
        if not isinstance(self._model, ScoreModel):
            return super().predictions_to_labeled_instances(instance, outputs)
        labeled = instance.duplicate()
        labeled.add_field("score", TensorField(torch.tensor(float(self._model.lowest_score))))
        return [labeled]
