"""Predictions of an ensemble in JSON."""

from typing import Any, Optional

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.predictors import Predictor

from allennlp_sentmatch.models import Ensemble
from allennlp_sentmatch.predictors.classification_predictor import ClassificationPredictor
from allennlp_sentmatch.predictors.label_threshold import Threshold


@Predictor.register("ensemble")
class EnsemblePredictor(ClassificationPredictor):
    """Predicts with an `Ensemble` from the JSON that its members' predictor takes.

    Parameters are those of `ClassificationPredictor`.

    Registered as a `Predictor` with name "ensemble".
    """

    def __init__(
        self,
        model: Ensemble,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        threshold: Optional[Threshold] = None,
        on_error: str = "raise",
    ) -> None:
        super().__init__(model, dataset_reader, frozen, threshold, on_error)
        name = str(model.members[0].default_predictor)
        predictor: Any = Predictor.by_name(name)
        self.input_keys = predictor.input_keys

    def get_interpretable_layer(self) -> torch.nn.Module:
        """Raises: each member has embeddings of its own, and AllenNLP looks at one."""
        raise ConfigurationError(
            "an ensemble has no one layer of embeddings to take gradients of; interpret its members"
        )
