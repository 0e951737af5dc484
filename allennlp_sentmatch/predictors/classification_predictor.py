"""The base class of predictors of one label."""

from typing import Any, Optional

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import LabelField
from allennlp.models import Model

from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.predictors.attention_map import AttentionMap
from allennlp_sentmatch.predictors.echoing_predictor import (
    EchoingPredictor,
    check_string,
    has_keys,
)
from allennlp_sentmatch.predictors.label_threshold import LabelThreshold, Threshold

OTHER_TEXT = {"premise": "hypothesis", "hypothesis": "premise"}
"""The texts that attend to each other."""


class ClassificationPredictor(EchoingPredictor):
    """Predicts one label from one or several texts, and echoes the texts.

    The output of `predict_json` holds the texts under the names they came with, `label`,
    `label_probs`, `probs_by_label` {name: probability} and the model's other outputs. AllenNLP's
    saliency interpreters work with it. Not registered itself.

    A subclass names its texts in `input_keys`: each element is a tuple of names for all of them, in
    the order in which the reader's `text_to_instance` takes them.

    # Parameters

    model : `Model`
    dataset_reader : `DatasetReader`
    frozen : `bool`, optional (default = `True`)
        Whether to put the model into evaluation mode.
    threshold : `Union[float, dict[str, float]]`, optional (default = `None`)
        The smallest probability with which a label is predicted: a number for every label, or an
        object of numbers by label, where other labels need none. `label` is then the most probable
        one of the labels that reach their thresholds, and `None` (undecided) if there is none.
        By default, `label` is the most probable one.
    on_error : `str`, optional (default = `"raise"`)
        As for `EchoingPredictor`.
    """

    input_keys: list[tuple[str, ...]]

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        threshold: Optional[Threshold] = None,
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

    def predict_instance(self, instance: Instance) -> JsonDict:
        """The prediction for one instance."""
        return self._decided(super().predict_instance(instance))

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """The predictions for several instances."""
        return [self._decided(output) for output in super().predict_batch_instance(instances)]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, "numpy.ndarray[Any, Any]"]
    ) -> list[Instance]:
        """The instance with the predicted label as its gold label, for saliency."""
        labeled = instance.duplicate()
        label = int(numpy.argmax(outputs["label_probs"]))
        labeled.add_field("label", LabelField(label, skip_indexing=True))
        return [labeled]

    def attention_maps(self, output: JsonDict) -> list[AttentionMap]:
        """The attention of the texts to each other, of each text to itself, and of poolings."""
        maps = []
        for key, weights in output.items():
            name, found, rest = key.partition("attention")
            if not found or not weights:
                continue
            text, kind = _text_and_kind(name)
            tokens = output["metadata"].get(f"{text}_tokens" if text else "tokens", [])
            title = " ".join([kind.capitalize(), "attention", *rest.strip("_").split()]).strip()
            title = title[0].upper() + title[1:] + (f" of the {text}" if text else "")
            if not isinstance(weights[0], list):
                maps.append(AttentionMap(title, [weights], [""], tokens))
            elif kind or not text:
                maps.append(AttentionMap(title, weights, tokens, tokens))
            else:
                read = output["metadata"].get(f"{OTHER_TEXT[text]}_tokens", [])
                title = f"Attention of the {text} to the {OTHER_TEXT[text]}"
                maps.append(AttentionMap(title, weights, tokens, read))
        return maps

    def _decided(self, output: JsonDict) -> JsonDict:
        if self._threshold is None:
            return output
        return {**output, "label": self._threshold.choose(output["probs_by_label"])}

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(*self._texts(json_dict).values())

    def _texts(self, json_dict: JsonDict) -> JsonDict:
        for keys in self.input_keys:
            if has_keys(json_dict, keys):
                return {key: check_string(json_dict[key], repr(key), json_dict) for key in keys}
        expected = " or ".join("/".join(keys) for keys in self.input_keys)
        raise ConfigurationError(f"expected {expected} in the JSON, got {shorten(list(json_dict))}")


def _text_and_kind(name: str) -> tuple[str, str]:
    """The name of the text and the kind of attention, from the part of a key before "attention"."""
    text, _, kind = name.strip("_").partition("_")
    return (text, kind) if text in OTHER_TEXT else ("", name.strip("_"))
