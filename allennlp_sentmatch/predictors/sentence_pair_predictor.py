"""Predictions for sentence pairs in JSON."""

from typing import Any

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import LabelField
from allennlp.predictors import Predictor

KEYS = [("premise", "hypothesis"), ("sentence1", "sentence2")]


@Predictor.register("sentence_pair")
class SentencePairPredictor(Predictor):
    """Predicts the relation of two sentences.

    Takes `{"premise": ..., "hypothesis": ...}` or `{"sentence1": ..., "sentence2": ...}`, and gives
    `label`, `label_probs`, `probs_by_label` {name: probability} and the two sentences under the
    names they came with. AllenNLP's saliency interpreters work with it.

    Registered as a `Predictor` with name "sentence_pair".
    """

    def predict(self, premise: str, hypothesis: str) -> JsonDict:
        """The prediction for one pair."""
        return self.predict_json({"premise": premise, "hypothesis": hypothesis})

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The prediction for one pair, with the inputs echoed."""
        return {**_sentences(inputs), **super().predict_json(inputs)}

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """The predictions for several pairs, with the inputs echoed."""
        outputs = super().predict_batch_json(inputs)
        return [{**_sentences(pair), **output} for pair, output in zip(inputs, outputs)]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, "numpy.ndarray[Any, Any]"]
    ) -> list[Instance]:
        """The instance with the predicted label as its gold label, for saliency."""
        labeled = instance.duplicate()
        label = int(numpy.argmax(outputs["label_probs"]))
        labeled.add_field("label", LabelField(label, skip_indexing=True))
        return [labeled]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        premise, hypothesis = _sentences(json_dict).values()
        return self._dataset_reader.text_to_instance(premise, hypothesis)


def _sentences(json_dict: JsonDict) -> dict[str, str]:
    """The two sentences of a JSON pair, in order, under the names they have there."""
    for keys in KEYS:
        if all(key in json_dict for key in keys):
            for key in keys:
                if not isinstance(json_dict[key], str):
                    raise ConfigurationError(
                        f"{key!r} must be a string, got {json_dict[key]!r} in {json_dict}"
                    )
            return {key: json_dict[key] for key in keys}
    expected = " or ".join("/".join(keys) for keys in KEYS)
    raise ConfigurationError(f"expected {expected} in a pair's JSON, got {sorted(json_dict)}")
