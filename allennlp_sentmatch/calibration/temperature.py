r"""Temperature scaling (Guo et al. 2017, https://arxiv.org/abs/1706.04599, section 4.2).

With the logits z_i of example i and its label y_i, the temperature T > 0 minimizes the negative
log-likelihood of p_i = softmax(z_i / T) (eq. 9). In b = 1/T, the negative log-likelihood is convex,
with the derivative

    g(b) = mean_i (sum_k softmax(b z_i)_k z_ik - z_{i, y_i}),

so that the temperature is 1 over the root of g. There is none if every label has the largest of
its logits (g < 0 for all b), or if the labels' logits are no larger than the mean logits on
average (g(0) >= 0).
"""

from typing import Any

import numpy
from allennlp.common.checks import ConfigurationError
from scipy.optimize import brentq
from scipy.special import softmax

TOLERANCE = 1e-12
"""Of the derivative, in units of the logits, and of the temperature, relative to it."""

FloatArray = numpy.ndarray[Any, numpy.dtype[numpy.float64]]
IntArray = numpy.ndarray[Any, numpy.dtype[numpy.int64]]


def fit_temperature(logits: FloatArray, labels: IntArray) -> float:
    """Fit the temperature by which to divide logits.

    # Parameters

    logits : `numpy.ndarray`
        (N, K), of examples that the model was not trained on.
    labels : `numpy.ndarray`
        (N,), their labels' indices.

    # Returns

    `float`

    # Raises

    `ConfigurationError` if no temperature minimizes the negative log-likelihood.
    """
    # In units of the largest difference of an example's logits, which may have any scale.
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
            "the model's probabilities of the right labels are no larger than those of the wrong "
            f"ones: on these {len(labels)} examples it is no better than chance (accuracy "
            f"{accuracy:.2f}; the most frequent label has {numpy.bincount(labels).max()} of them), "
            "and no temperature helps; train it for longer or, if it is accurate on other data, "
            "check that the labels are those that it was trained with"
        )
    if not label_logits.any():
        raise ConfigurationError(
            f"the model classifies all {len(labels)} examples correctly, and these say nothing "
            "about how often it errs: calibrate with more examples"
        )
    lower, upper = 0.0, TOLERANCE
    while derivative(upper) <= 0:
        lower, upper = upper, 2 * upper
    return float(unit / brentq(derivative, lower, upper, xtol=1e-300, rtol=TOLERANCE))
