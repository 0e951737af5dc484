"""Heads, which compute labels' logits or a score from the vectors of two sentences.

A linear head is fitted to features of a pair; a fine-tuned one is trained with its encoder.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Optional, Union

import numpy
import torch
from torch import Tensor

from allennlp_sentmatch.array_types import Array, FloatArray
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.word_comparison import word_features
from allennlp_sentmatch.estimators.examples import Examples
from allennlp_sentmatch.estimators.groups import are_scores, numbered
from allennlp_sentmatch.estimators.linear import Fit, fit_linear
from allennlp_sentmatch.files.texts import Sentences
from allennlp_sentmatch.nn import matching
from allennlp_sentmatch.nn.checks import check_names
from allennlp_sentmatch.nn.pair_comparison import prefix_sizes
from allennlp_sentmatch.standalone.vectors import normalized

if TYPE_CHECKING:
    from allennlp_sentmatch.estimators.fine_tuned_head import FineTunedHead

MATCHERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    name: getattr(matching, name)
    for name in ("concat", "heuristic", "heuristic_difference", "symmetric", "sum_difference")
}
"""The matching functions that have nothing to learn."""

COSINE = "cosine"  # this matcher has only one feature, the cosine

LINEAR_MATCHERS = (*MATCHERS, COSINE)

TRAINED_MATCHERS = ("elbis", "highway", "mlb", "mfb")  # FineTuning() learns their parameters

SYMMETRIC = ("symmetric", "sum_difference", COSINE)  # these do not depend on the order of a pair

COSINE_WEIGHT = 30.0
"""The factor of the standardized cosine, which is the feature that is penalized least: with few
labels, the model begins as a calibrated cosine."""

WORD_WEIGHT = 10.0
"""The factor of the standardized features of the words and of the cosines of first dimensions."""

BLOCK_SIZE = 4096  # pairs whose features are in memory during prediction

MARGIN = 1e-4  # the share of a range, at either end, in which `within` compresses scores


def within(scores: Array, low: float, high: float) -> Array:
    """Return scores between `low` and `high`, in the same order as the given ones.

    Scores inside are unchanged, except in the `MARGIN`, into which scores beyond an end are
    compressed. Infinite scores stay infinite.
    """
    unit = max(abs(low), abs(high)) or 1.0  # differences of large scores may overflow
    low = low / unit
    high = high / unit
    scaled = scores / unit
    margin = (high - low) * MARGIN
    if margin == 0:
        bent = scaled.clip(low, high)
    else:
        inner_low = low + margin
        inner_high = high - margin
        above = numpy.maximum(scaled - inner_high, 0)
        below = numpy.maximum(inner_low - scaled, 0)
        added = above * margin / (above + margin)
        taken = below * margin / (below + margin)
        bent = scaled.clip(inner_low, inner_high) + added - taken
    is_finite = numpy.isfinite(scores)
    return numpy.where(is_finite, bent * unit, scores)


def pair_inputs(
    encoder: SentenceEncoder,
    words: Optional[str],
    first: list[str],
    second: list[str],
) -> tuple[FloatArray, FloatArray, Optional[FloatArray]]:
    """Return the inputs of a head for N pairs.

    These are the vectors (N, E) of both sides, and the features of the words (N, K); `None` in
    their place if `words`, one of `WORD_ORDERS`, is `None`. A sentence that occurs twice is encoded
    once.
    """
    texts = first + second
    vectors = encoder.encode(Sentences(dict.fromkeys(texts)))
    u, v = numpy.split(vectors[numbered(texts)], 2)
    return u, v, word_features(first, second, words, encoder)


Head = Union["LinearHead", "FineTunedHead"]
"""The layers above an encoder that `fit` learns."""


def head_outputs(
    head: Head,
    encoder: SentenceEncoder,
    first: list[str],
    second: list[str],
) -> Array:
    """Return the logits (N, C), or the scores (N, 1), of N pairs.

    Features are computed for `BLOCK_SIZE` pairs at a time. Raise `ValueError`, with the pair's
    position, for an output that is not finite.
    """
    parts = []
    for start in range(0, len(first), BLOCK_SIZE):
        block = slice(start, start + BLOCK_SIZE)
        u, v, words = pair_inputs(encoder, head.words, first[block], second[block])
        parts.append(head.outputs(u, v, words))
    outputs: Array = numpy.concatenate(parts)
    is_finite = numpy.isfinite(outputs).all(axis=1)
    if not is_finite.all():
        raise ValueError(
            f"the output for pair {is_finite.argmin()} is not finite: scores or weights are too "
            "large"
        )
    return outputs


class LinearHead:
    """A linear model of a matcher's features, from the vectors at length 1.

    The vectors are `vector_size` wide (E), and there are `num_outputs` (C). The `matcher` is one of
    `LINEAR_MATCHERS`, and `words` one of `WORD_ORDERS`: with the `num_words` features of words (K)
    come the cosine and the cosines of the first dimensions, see `prefix_sizes`.
    """

    def __init__(
        self,
        vector_size: int,
        num_outputs: int,
        matcher: str,
        words: Optional[str] = None,
        num_words: int = 0,
    ) -> None:
        self.matcher = matcher
        self.words = words
        self._prefixes = [] if words is None else prefix_sizes(vector_size)
        self._num_compared = 1 + num_words + len(self._prefixes)
        vector = numpy.zeros((1, vector_size), numpy.float32)
        given = None if words is None else numpy.zeros((1, num_words), numpy.float32)
        self.coef: Array
        self.intercept: Array
        self.score_range: Optional[tuple[float, float]] = None
        num_features = self.features(vector, vector, given).shape[1]
        self._coef_shape = (num_outputs, num_features)  # (C, F)
        self._cosine: Optional[int] = None  # the cosine's column
        if words is not None:
            self._cosine = num_features - self._num_compared
        elif matcher == COSINE:
            self._cosine = 0

    def fit(
        self,
        features: FloatArray,
        examples: Examples,
        l2: Optional[float],
        random_state: Optional[int],
    ) -> Fit:
        """Learn from N examples with the `features` (N, F), and return what `fit_linear` found.

        Without `l2`, cross-validation chooses the penalty, for which `random_state` is the seed.
        """
        targets = examples.targets
        fit = fit_linear(
            features,
            targets,
            examples.weights,
            examples.groups,
            self._feature_weights(),
            self._cosine,
            l2,
            random_state,
        )
        self.coef = fit.coef
        self.intercept = fit.intercept
        if are_scores(targets):
            self.score_range = float(targets.min()), float(targets.max())
        return fit

    def _feature_weights(self) -> Array:
        """Return the factors (F,) of the standardized features.

        They are 1 for the matcher's features, `WORD_WEIGHT` for the features of the words and
        `COSINE_WEIGHT` for the cosine.
        """
        num_features = self._coef_shape[1]
        weights = numpy.ones(num_features)
        if self.words is not None:
            weights[num_features - self._num_compared :] = WORD_WEIGHT
        if self._cosine is not None:
            weights[self._cosine] = COSINE_WEIGHT
        return weights

    def features(self, u: FloatArray, v: FloatArray, words: Optional[FloatArray]) -> FloatArray:
        """Return the features (N, F) of N pairs.

        The columns are the matcher's features, the cosine, the words' features and the cosines of
        the first dimensions.
        """
        u = normalized(u)
        v = normalized(v)
        parts = []
        if self.matcher != COSINE:
            match = MATCHERS[self.matcher]
            matched = match(torch.from_numpy(u), torch.from_numpy(v))
            parts.append(matched.numpy())
        if self.matcher == COSINE or words is not None:
            parts.append((u * v).sum(axis=1, keepdims=True))
        if words is not None:
            parts.append(words)
        for size in self._prefixes:
            first = normalized(u[:, :size])
            second = normalized(v[:, :size])
            parts.append((first * second).sum(axis=1, keepdims=True))
        return numpy.concatenate(parts, axis=1)

    @numpy.errstate(over="ignore", invalid="ignore")  # the caller checks the outputs
    def outputs(self, u: FloatArray, v: FloatArray, words: Optional[FloatArray] = None) -> Array:
        """Return the logits (N, C), or the scores (N, 1), of N pairs.

        `u` and `v` (N, E) are the vectors of the first and of the second sentences, and `words`
        (N, K) the features of the words, if the head reads them.
        """
        outputs: Array = self.features(u, v, words) @ self.coef.T + self.intercept
        return outputs if self.score_range is None else within(outputs, *self.score_range)

    def tensors(self) -> dict[str, Tensor]:
        """Return all that was learned, by name."""
        tensors = {
            "coef": torch.from_numpy(self.coef),  # (C, F)
            "intercept": torch.from_numpy(self.intercept),  # (C,)
        }
        if self.score_range is not None:
            tensors["score_range"] = torch.tensor(self.score_range, dtype=torch.float64)
        return tensors

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Load the result of `tensors`, which in earlier versions had no range of scores.

        Raise `ValueError` for other names, shapes or types.
        """
        shapes = {"coef": self._coef_shape, "intercept": self._coef_shape[:1]}
        if self._coef_shape[0] == 1 and "score_range" in tensors:
            shapes["score_range"] = (2,)
        check_names("tensor", tensors, shapes)
        for name, tensor in tensors.items():
            shape = shapes[name]
            if tensor.shape != shape:
                raise ValueError(f"{name!r} must have the shape {shape}")
            if tensor.dtype != torch.float64:
                raise ValueError(f"{name!r} must be in float64, not {tensor.dtype}")
        self.coef = tensors["coef"].numpy()
        self.intercept = tensors["intercept"].numpy()
        if "score_range" in tensors:
            low, high = tensors["score_range"].tolist()
            if low > high:
                raise ValueError("'score_range' must be the lowest and the highest score")
            self.score_range = low, high
