"""The base class of predictors of one label."""

from typing import Any

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import LabelField

from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.predictors.echoing_predictor import (
    EchoingPredictor,
    check_string,
    has_keys,
)


class ClassificationPredictor(EchoingPredictor):
    """Predicts one label from one or several texts, and echoes the texts.

    The output of `predict_json` holds the texts under the names they came with, `label`,
    `label_probs`, `probs_by_label` {name: probability} and the model's other outputs. AllenNLP's
    saliency interpreters work with it. Not registered itself.

    A subclass names its texts in `input_keys`: each element is a tuple of names for all of them, in
    the order in which the reader's `text_to_instance` takes them.
    """

    input_keys: list[tuple[str, ...]]

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

    def _texts(self, json_dict: JsonDict) -> JsonDict:
        for keys in self.input_keys:
            if has_keys(json_dict, keys):
                return {key: check_string(json_dict[key], repr(key), json_dict) for key in keys}
        expected = " or ".join("/".join(keys) for keys in self.input_keys)
        raise ConfigurationError(f"expected {expected} in the JSON, got {shorten(list(json_dict))}")
