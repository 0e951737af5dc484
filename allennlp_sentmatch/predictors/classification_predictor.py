"""What the predictors of one label have in common."""

from typing import Any

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import LabelField
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.files.json_lines import parse_json_object


class ClassificationPredictor(Predictor):
    """Predicts one label from one or several texts, and echoes the texts.

    The output of `predict_json` holds the texts under the names they came with, `label`,
    `label_probs`, `probs_by_label` {name: probability} and what else the model shows. AllenNLP's
    saliency interpreters work with it. Not registered itself.

    A subclass names its texts in `input_keys`: each element is one way to call all of them, in the
    order in which the reader's `text_to_instance` takes them.
    """

    input_keys: list[tuple[str, ...]]

    def load_line(self, line: str) -> JsonDict:
        """The JSON object on a line of the input file of `allennlp predict`."""
        return parse_json_object(line)

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The prediction for one JSON object, with the inputs echoed."""
        return {**self._texts(inputs), **super().predict_json(inputs)}

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """The predictions for several JSON objects, with the inputs echoed."""
        outputs = super().predict_batch_json(inputs)
        return [{**self._texts(texts), **output} for texts, output in zip(inputs, outputs)]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, "numpy.ndarray[Any, Any]"]
    ) -> list[Instance]:
        """The instance with the predicted label as its gold label, for saliency."""
        labeled = instance.duplicate()
        label = int(numpy.argmax(outputs["label_probs"]))
        labeled.add_field("label", LabelField(label, skip_indexing=True))
        return [labeled]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(*self._texts(json_dict).values())

    def _texts(self, json_dict: JsonDict) -> dict[str, str]:
        """The texts of a JSON object, in order, under the names they have there."""
        for keys in self.input_keys:
            if all(key in json_dict for key in keys):
                for key in keys:
                    if not isinstance(json_dict[key], str):
                        raise ConfigurationError(
                            f"{key!r} must be a string, got {json_dict[key]!r} in {json_dict}"
                        )
                return {key: json_dict[key] for key in keys}
        expected = " or ".join("/".join(keys) for keys in self.input_keys)
        raise ConfigurationError(f"expected {expected} in the JSON, got {sorted(json_dict)}")
