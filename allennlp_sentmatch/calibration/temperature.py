"""The logits of labeled examples, and their temperature.

Temperature scaling is from Guo et al. 2017, https://arxiv.org/abs/1706.04599, section 4.2.
With the logits z_i of example i and its label y_i, the temperature T > 0 minimizes the negative
log-likelihood of p_i = softmax(z_i / T) (eq. 9). In b = 1/T, the negative log-likelihood is convex,
with the derivative

    g(b) = mean_i (sum_k softmax(b z_i)_k z_ik - z_{i, y_i}),

so that the temperature is 1 over the root of g. There is none if every label has the largest of
its logits (g < 0 for all b), or if the labels' logits are no larger than the mean logits on
average (g(0) >= 0).
"""

from typing import Any, NamedTuple

import numpy
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.data import DatasetReader
from scipy.optimize import brentq
from scipy.special import softmax

from allennlp_sentmatch.array_types import DoubleArray, IntArray
from allennlp_sentmatch.data.evaluation import check_gold, evaluation_loader
from allennlp_sentmatch.models.classification_model import ClassificationModel

TOLERANCE = 1e-12
"""Absolute for the derivative, in units of the logits; relative for the temperature."""


class LabeledProbs(NamedTuple):
    """Probabilities (N, K) of K labels, and the indices (N,) of the right ones."""

    probs: DoubleArray
    labels: IntArray


class LabeledLogits(NamedTuple):
    """Logits (N, K), not divided by the model's temperature, and the labels' indices (N,)."""

    logits: DoubleArray
    labels: IntArray

    def probs(self, temperature: float) -> LabeledProbs:
        """Return the probabilities (N, K) with a temperature, and the labels."""
        return LabeledProbs(softmax(self.logits / temperature, axis=-1), self.labels)


@torch.no_grad()
def predict_logits(
    model: ClassificationModel,
    reader: DatasetReader,
    data_path: Any,
    batch_size: int = 64,
) -> LabeledLogits:
    """Return the logits (N, K) of the examples that a reader finds, and their labels (N,).

    The model is in evaluation mode. Raise `ConfigurationError` if there are no examples, or if
    an example has no label, a label that is not in the vocabulary, or logits that are not finite.
    """
    settings = {"batch_size": batch_size, "max_instances_in_memory": batch_size, "quiet": True}
    loader = evaluation_loader(Params(settings), reader, data_path)
    check_gold(model, loader)
    loader.index_with(model.vocab)
    loader.set_target_device(model.temperature.device)
    logits = []
    labels = []
    try:
        for batch in Tqdm.tqdm(loader, desc="predicting"):
            tensors: dict[str, Any] = dict(batch)
            labels.append(tensors.pop("label").cpu().numpy())
            output = model(**tensors)["label_logits"].double() * model.temperature.double()
            logits.append(output.cpu().numpy())
            if not numpy.isfinite(logits[-1]).all():
                raise ConfigurationError(
                    f"{data_path}: the model's logits are not finite; its weights are spoilt: "
                    "train it again, with a lower learning rate"
                )
    except KeyError as error:  # another package's reader
        raise ConfigurationError(
            f"{data_path}: {error.args[0]}; the model's labels are {model.labels}"
        ) from None
    return LabeledLogits(numpy.concatenate(logits), numpy.concatenate(labels))


def fit_temperature(logits: DoubleArray, labels: IntArray) -> float:
    """Return the temperature by which to divide the logits (N, K) of examples with `labels` (N,).

    Raise `ConfigurationError` if no temperature minimizes the negative log-likelihood.
    """
    # Logits may have any scale: divide by the largest difference within an example.
    logits = logits - logits.max(-1, keepdims=True)
    unit = -logits.min() or 1.0
    logits = logits / unit
    label_logits = logits[numpy.arange(len(labels)), labels]

    def derivative(inverse: float) -> float:
        expected = (softmax(inverse * logits, axis=-1) * logits).sum(-1)
        return float((expected - label_logits).mean())

    if derivative(0.0) >= -TOLERANCE:
        accuracy = (logits.argmax(-1) == labels).mean()
        raise ConfigurationError(
            "the model gives the right labels no larger probabilities than the wrong ones: on "
            f"these {len(labels)} examples it is no better than chance (accuracy "
            f"{accuracy:.2f}; the most frequent label has {numpy.bincount(labels).max()} of them), "
            "and no temperature helps; train it for longer or, if it is accurate on other data, "
            "check that it was trained with the same labels"
        )
    if not label_logits.any():
        raise ConfigurationError(
            f"the model classifies all {len(labels)} examples correctly, and these say nothing "
            "about how often it errs: calibrate with more examples"
        )
    lower = 0.0
    upper = TOLERANCE
    while derivative(upper) <= 0:
        lower = upper
        upper = 2 * upper
    return float(unit / brentq(derivative, lower, upper, xtol=1e-300, rtol=TOLERANCE))
