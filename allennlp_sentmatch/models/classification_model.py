"""What all models that choose a label have in common."""

from typing import Any, Optional

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.nn import RegularizerApplicator
from allennlp.training.metrics import CategoricalAccuracy, F1Measure
from torch import Tensor


class ClassificationModel(Model):
    """The loss, the metrics and the human-readable output of a model that chooses one label.

    A subclass computes logits in `forward` and returns `self.output(logits, label, metadata)`.
    Not registered itself.

    # Parameters

    vocab : `Vocabulary`
    label_namespace : `str`, optional (default = `"labels"`)
        Vocabulary namespace of the labels.
    positive_label : `str`, optional (default = `None`)
        Of a binary task, the label whose F1 is reported beside the accuracy. By default the last
        of the two in alphabetic order: "1" of "0" and "1", "positive" of "negative" and
        "positive".
    regularizer : `RegularizerApplicator`, optional (default = `None`)

    # Raises

    `ConfigurationError` where the vocabulary has no label, or `positive_label` is not one.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        label_namespace: str = "labels",
        positive_label: Optional[str] = None,
        regularizer: Optional[RegularizerApplicator] = None,
    ) -> None:
        super().__init__(vocab, regularizer)
        self._label_namespace = label_namespace
        labels = vocab.get_token_to_index_vocabulary(label_namespace)
        if not labels:
            raise ConfigurationError(
                f"the vocabulary's namespace {label_namespace!r} has no label; is the training "
                f"data labeled, and is `label_namespace` right?"
            )
        if positive_label is not None and positive_label not in labels:
            raise ConfigurationError(
                f"positive_label {positive_label!r} is not among the labels {sorted(labels)}"
            )
        self._accuracy = CategoricalAccuracy()
        self._f1: Optional[F1Measure] = None
        if positive_label is not None or len(labels) == 2:
            self._f1 = F1Measure(labels[positive_label or max(labels)])
        self._loss = torch.nn.CrossEntropyLoss()

    def output(
        self,
        logits: Tensor,
        label: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
    ) -> dict[str, Any]:
        """The output dictionary of `forward`.

        # Parameters

        logits : `Tensor`
            (B, num_labels)
        label : `Tensor`, optional (default = `None`)
            (B,), the gold labels' indices. With it there is a loss, and the metrics are updated.
        metadata : `List[Dict[str, Any]]`, optional (default = `None`)
            Passed on.

        # Returns

        `Dict[str, Any]`
            `label_logits` (B, num_labels), `label_probs` (B, num_labels), and where they apply
            `loss` (a scalar) and `metadata`.
        """
        output: dict[str, Any] = {
            "label_logits": logits,
            "label_probs": logits.softmax(dim=-1),
        }
        if metadata is not None:
            output["metadata"] = metadata
        if label is not None:
            output["loss"] = self._loss(logits, label.long())
            self._accuracy(logits, label)
            if self._f1 is not None:
                self._f1(logits, label)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Adds `label`, the most probable label, and `probs_by_label`, {name: probability}."""
        names = self.vocab.get_index_to_token_vocabulary(self._label_namespace)
        output_dict["label"] = []
        output_dict["probs_by_label"] = []
        for probabilities in output_dict["label_probs"].tolist():
            by_label = {names[index]: value for index, value in enumerate(probabilities)}
            output_dict["label"].append(max(by_label, key=by_label.__getitem__))
            output_dict["probs_by_label"].append(by_label)
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """`accuracy`, and for a binary task the `f1` of its positive label."""
        metrics = {"accuracy": self._accuracy.get_metric(reset)}
        if self._f1 is not None:
            metrics["f1"] = self._f1.get_metric(reset)["f1"]
        return metrics
