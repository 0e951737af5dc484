"""Predictors of a label, or of a score of two sentences."""

from collections.abc import Collection, Mapping
from typing import Any, Optional, Union

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import LabelField, TensorField
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.models import ClassificationModel, ScoreModel
from allennlp_sentmatch.nn.checks import number
from allennlp_sentmatch.predictors.echoing_predictor import AttentionMap, EchoingPredictor

OTHER_TEXT = {"premise": "hypothesis", "hypothesis": "premise"}
"""For each text of a pair, the one that it attends to."""

ThresholdSetting = Union[float, Mapping[str, float]]


PROBABILITY = number(least=0, most=1)


class LabelThreshold:
    """Chooses one of the model's labels, or none if no label is probable enough.

    For the `threshold`, see `ClassificationPredictor`. Raise `ConfigurationError` for an unknown
    label, or a number that is not from 0 to 1.
    """

    def __init__(self, threshold: ThresholdSetting, labels: Collection[str]) -> None:
        if isinstance(threshold, Mapping):
            self._by_label = dict(threshold)
        else:
            self._by_label = dict.fromkeys(labels, threshold)
        for label, probability in self._by_label.items():
            if label not in labels:
                raise ConfigurationError(
                    f"threshold has the label {label!r}, but the model's labels are "
                    f"{sorted(labels)}"
                )
            with configuration_errors():
                PROBABILITY.check("threshold", probability)

    def choose(self, probs_by_label: Mapping[str, float]) -> Optional[str]:
        """Return the most probable label that reaches its threshold; `None` if none does."""
        reached = {
            label: prob
            for label, prob in probs_by_label.items()
            if prob >= self._by_label.get(label, 0.0)
        }
        return max(reached, key=reached.__getitem__, default=None)


class ClassificationPredictor(EchoingPredictor):
    """Predicts one label from one or several texts, and echoes the texts.

    The output of `predict_json` contains the texts under their names in the input, `label`,
    `label_probs`, `probs_by_label` {name: probability} and the model's other outputs. AllenNLP's
    saliency interpreters work with it. Not registered itself.

    # Parameters

    threshold : `Union[float, dict[str, float]]`, optional (default = `None`)
        The smallest probability with which a label is predicted: a number for every label, or an
        object of numbers by label, in which the other labels have no threshold. `label` is then the
        most probable one of the labels that reach their thresholds, and `None` (undecided) if there
        is none. By default, `label` is the most probable one.
    frozen, on_error : optional
        As for `EchoingPredictor`.
    """

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        threshold: Optional[ThresholdSetting] = None,
        on_error: str = "raise",
    ) -> None:
        super().__init__(model, dataset_reader, frozen, on_error)
        self._threshold: Optional[LabelThreshold] = None
        if threshold is not None:
            if not isinstance(model, ClassificationModel):
                raise ConfigurationError(
                    f"threshold needs a classifier of this package, not a {type(model).__name__}"
                )
            self._threshold = LabelThreshold(threshold, model.labels)

    @property
    def reads_pairs(self) -> bool:
        """Whether the predictor takes two sentences rather than one."""
        return len(self.input_keys[0]) == 2

    @property
    def output_key(self) -> str:  # type: ignore[override]
        """The key of a score or of a label."""
        return "score" if isinstance(self._model, ScoreModel) else "label"

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, "numpy.ndarray[Any, Any]"]
    ) -> list[Instance]:
        """Return the instance with the predicted label as gold, or with the lowest score.

        AllenNLP's saliency interpreters take the gradient of its loss.
        """
        labeled = instance.duplicate()
        if isinstance(self._model, ScoreModel):
            # At the predicted score, the loss can have its minimum, without a gradient.
            labeled.add_field("score", TensorField(torch.tensor(float(self._model.lowest_score))))
        else:
            label = int(numpy.argmax(outputs["label_probs"]))
            labeled.add_field("label", LabelField(label, skip_indexing=True))
        return [labeled]

    def attention_maps(self, output: JsonDict) -> list[AttentionMap]:
        """Return the attention of the texts to each other and to themselves, and of poolings."""
        metadata = output.get("metadata", {})
        return [
            _attention_map(key, weights, metadata)
            for key, weights in output.items()
            if "attention" in key and weights
        ]

    def _finished(self, output: JsonDict) -> JsonDict:
        if self._threshold is None:
            return output
        return {**output, "label": self._threshold.choose(output["probs_by_label"])}


def _attention_map(key: str, weights: Any, metadata: JsonDict) -> AttentionMap:
    """Return an output such as `premise_self_attention` or `pooling_attention` with its words."""
    name, _, rest = key.partition("attention")
    text, _, kind = name.strip("_").partition("_")  # such as "premise" and "self"
    if text not in OTHER_TEXT:  # attention within a single text
        text = ""
        kind = name.strip("_")
    tokens = metadata.get(f"{text}_tokens" if text else "tokens", [])
    is_matrix = isinstance(weights[0], list)
    if is_matrix and text and not kind:
        other = OTHER_TEXT[text]
        title = f"Attention of the {text} to the {other}"
        return AttentionMap(title, weights, tokens, metadata.get(f"{other}_tokens", []))
    title = f"{kind} attention {rest.strip('_')}".strip().capitalize()
    if text:
        title += f" of the {text}"
    if is_matrix:
        return AttentionMap(title, weights, tokens, tokens)
    return AttentionMap(title, [weights], [""], tokens)


@Predictor.register("single_sentence")
class SingleSentencePredictor(ClassificationPredictor):
    """Predicts the label of a sentence.

    Takes `{"sentence": ...}` or `{"text": ...}`; see `ClassificationPredictor` for the output.
    """

    input_keys = [("sentence",), ("text",)]

    def predict(self, sentence: str) -> JsonDict:
        """Return the prediction for one sentence."""
        return self.predict_json({"sentence": sentence})


@Predictor.register("sentence_pair")
class SentencePairPredictor(ClassificationPredictor):
    """Predicts the relation of two sentences, or a score of their similarity.

    Takes `{"premise": ..., "hypothesis": ...}` or `{"sentence1": ..., "sentence2": ...}`; see
    `ClassificationPredictor` for the output. A model that predicts a score has `score` in its
    output, and neither a label nor probabilities.
    """

    input_keys = [("premise", "hypothesis"), ("sentence1", "sentence2")]

    def predict(self, premise: str, hypothesis: str) -> JsonDict:
        """Return the prediction for one pair."""
        return self.predict_json({"premise": premise, "hypothesis": hypothesis})


@Predictor.register("ensemble")
class EnsemblePredictor(ClassificationPredictor):
    """Predicts with an `Ensemble` from the same JSON as its members' predictor.

    It takes the parameters of `ClassificationPredictor`.
    """

    @property
    def input_keys(self) -> list[tuple[str, ...]]:  # type: ignore[override]
        """The keys of the members' predictor."""
        ensemble: Any = self._model
        predictor: Any = Predictor.by_name(ensemble.members[0].default_predictor)
        keys: list[tuple[str, ...]] = predictor.input_keys
        return keys

    def get_interpretable_layer(self) -> torch.nn.Module:
        """Raise `ConfigurationError`: each member has its own embeddings; AllenNLP looks at one."""
        raise ConfigurationError(
            "an ensemble has no one layer of embeddings to take gradients of; interpret its members"
        )
