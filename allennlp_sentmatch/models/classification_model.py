"""The base class of models that predict a label."""

from collections.abc import Mapping
from typing import Any, Optional, Union

import torch
import torch.nn.functional as F
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader, Vocabulary
from allennlp.training.metrics import CategoricalAccuracy, F1Measure
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.class_weights import (
    BALANCED,
    balanced_weights,
    count_labels,
    weights_by_label,
)
from allennlp_sentmatch.models.text_model import Metadata, Output, TextModel
from allennlp_sentmatch.modules import Classifier
from allennlp_sentmatch.nn import MLPClassifier


class ClassificationModel(TextModel):
    """A model that predicts one label: its loss, metrics and human-readable output.

    A subclass computes logits in `forward`, passes them to `output` and returns the result. Its
    constructor passes on the parameters below. Not registered itself.

    `forward` names the fields of the reader: `premise` and `hypothesis` (or `tokens`), `label`,
    `metadata` and `score`, which classifiers ignore: some data, such as SICK, have both.

    Raise `ConfigurationError` if the vocabulary has fewer than two labels.

    # Parameters

    label_namespace : `str`, optional (default = `"labels"`)
        Vocabulary namespace of the labels.
    positive_label : `str`, optional (default = `None`)
        The label whose F1 is reported with the accuracy, as `f1_<label>`. By default, a binary task
        reports the F1 of each label and, as `f1_macro`, their mean; other tasks report no F1.
    class_weights : `Union[str, dict[str, float]]`, optional (default = `None`)
        The weight of each label in the loss of training: numbers from 1e-9 to 1e9 by label, 1 for a
        label that is not named, such as `{"yes": 3}`; or "balanced", N / (K * N_k) for a label that
        N_k of the N training examples have, of K labels. The loss of an example is multiplied by
        its label's weight, before the mean over the examples of a batch. The loss in validation and
        evaluation, and all metrics, are unweighted. Archives contain no weights.
    settings : see `TextModel`

    # Attributes

    temperature : `Tensor`
        A buffer, a scalar, by which all logits are divided (Guo et al. 2017,
        https://arxiv.org/abs/1706.04599, eq. 9): 1 until `allennlp calibrate` fits it, and 1 in
        weights that were saved without it.
    """

    default_predictor = "sentence_pair"
    gold_field = "label"

    temperature: Tensor
    _class_weights: Optional[Tensor]
    """The weights (num_labels,) of the labels, in the order of the logits."""

    @inherits_settings(TextModel)
    def __init__(
        self,
        vocab: Vocabulary,
        label_namespace: str = "labels",
        positive_label: Optional[str] = None,
        class_weights: Optional[Union[str, Mapping[str, float]]] = None,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._label_namespace = label_namespace
        labels = _checked_labels(vocab, label_namespace)
        self.output_sizes[label_namespace] = len(labels)
        if positive_label is not None and positive_label not in labels:
            raise ConfigurationError(
                f"positive_label {positive_label!r} is not among the labels {sorted(labels)}"
            )
        self.positive_label = positive_label
        self.register_buffer("temperature", torch.ones(()))
        self._accuracy = CategoricalAccuracy()
        scored: list[str] = []
        if positive_label is not None:
            scored = [positive_label]
        elif len(labels) == 2:
            scored = sorted(labels)
        self._f1 = {label: F1Measure(labels[label]) for label in scored}
        self._is_balanced = class_weights == BALANCED
        weights = None
        if class_weights is not None and not self._is_balanced:
            weights = weights_by_label(class_weights, self.labels)
        # Archives contain no class weights: only training uses them, and derives them from its
        # configuration and data.
        self.register_buffer("_class_weights", weights, persistent=False)

    @property
    def labels(self) -> list[str]:
        """The names of the labels, in the order of the logits."""
        names = self.vocab.get_index_to_token_vocabulary(self._label_namespace)
        return [names[index] for index in range(len(names))]

    def output(
        self,
        logits: Tensor,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        shown: Optional[Output] = None,
    ) -> Output:
        """Make the output of `forward` from logits (B, num_labels), before the temperature.

        With `label` (B,), the indices of the gold labels, there is a loss, and the metrics are
        updated. `shown` has further entries, such as attention.

        Return `label_logits` (B, num_labels), divided by the temperature, `label_probs` (B,
        num_labels), the entries of `shown`, and if they apply `loss` (a scalar) and `metadata`.
        """
        logits = logits / self.temperature
        output: Output = {"label_logits": logits, "label_probs": logits.softmax(dim=-1)}
        if metadata is not None:
            output["metadata"] = metadata
        if label is not None:
            output["loss"] = self._label_losses(logits, label).mean()
            self._accuracy(logits, label)
            for f1 in self._f1.values():
                f1(logits, label)
        return {**output, **(shown or {})}

    def make_output_human_readable(self, output_dict: Output) -> Output:
        """Add `label`, the most probable one, and `probs_by_label`; see also `TextModel`."""
        output_dict = super().make_output_human_readable(output_dict)
        rows = output_dict["label_probs"].tolist()
        probs_by_label = [dict(zip(self.labels, probs)) for probs in rows]
        output_dict["label"] = [max(probs, key=probs.__getitem__) for probs in probs_by_label]
        output_dict["probs_by_label"] = probs_by_label
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Return `accuracy`, and the F1 of `positive_label` or of both labels of a binary task."""
        metrics = {"accuracy": self._accuracy.get_metric(reset)}
        scores = [f1.get_metric(reset)["f1"] for f1 in self._f1.values()]
        metrics.update({f"f1_{label}": score for label, score in zip(self._f1, scores)})
        if len(scores) == 2:
            metrics["f1_macro"] = sum(scores) / 2
        return metrics

    def prepare_training(self, data_loader: DataLoader) -> None:
        """Compute the weights "balanced" from the labels of the training data.

        AllenNLP's trainer does so when it is constructed (`training_compat.py`). In distributed
        training, all processes count together.
        """
        if self._is_balanced:
            counts = count_labels(data_loader.iter_instances(), self.gold_field)
            weights = balanced_weights(counts, self.labels)
            self._class_weights = weights.to(self.temperature.device)

    def _label_losses(self, logits: Tensor, label: Tensor) -> Tensor:
        """Return the weighted cross entropies (B,) of logits (B, C) and labels (B,)."""
        losses = F.cross_entropy(logits, label.long(), reduction="none")
        weights = self._weights_of(label)
        return losses if weights is None else losses * weights

    def _weights_of(self, label: Tensor) -> Optional[Tensor]:
        """Return the weights (B,) of B labels in training; `None` if all labels count equally."""
        if not self.training:
            return None
        if self._is_balanced and self._class_weights is None:
            raise ConfigurationError(
                'class_weights "balanced" must count the labels of the training data first: call '
                "prepare_training with its data loader, or give a weight by label"
            )
        return None if self._class_weights is None else self._class_weights[label.long()]

    def _construct_classifier(self, classifier: Lazy[Classifier], input_size: int) -> MLPClassifier:
        """Return the classifier of features (B, input_size), with as many outputs as labels."""
        return classifier.construct(input_size=input_size, num_labels=len(self.labels)).module

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        # The weights were saved before there was a temperature, or by another package's model.
        state_dict.setdefault(f"{prefix}temperature", torch.ones_like(self.temperature))
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


def _checked_labels(vocab: Vocabulary, namespace: str) -> dict[str, int]:
    """Return the indices of the labels. Raise `ConfigurationError` if there are not two of them."""
    labels: dict[str, int] = {}
    # For a missing namespace, the vocabulary may return the symbols for padding and unknown words
    # as labels.
    if namespace in vocab.get_namespaces():
        labels = vocab.get_token_to_index_vocabulary(namespace)
    # The counts exist only in a vocabulary made for training.
    counts = (vocab._retained_counter or {}).get(namespace, {})
    if counts and labels and vocab.is_padded(namespace):
        raise ConfigurationError(
            f"padding and unknown words would be labels, as the vocabulary's non_padded_namespaces "
            f"lack {namespace!r}; its default has '*labels'"
        )
    if len(labels) < 2:
        found = f"only the label {next(iter(labels))!r}" if labels else "no label"
        if counts.keys() - labels:
            found += ", as its max_vocab_size or min_count cuts labels"
        raise ConfigurationError(
            f"the vocabulary's namespace {namespace!r} has {found}; a classifier needs at least "
            "two: is the training data labeled, and `label_namespace` right?"
        )
    return labels
