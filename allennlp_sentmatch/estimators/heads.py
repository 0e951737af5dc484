"""Heads, which make logits of labels or a score of the vectors of two sentences."""

from collections.abc import Callable
from typing import Optional, Protocol

import numpy
import torch
from torch import Tensor

from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.word_comparison import word_features
from allennlp_sentmatch.estimators.linear import Array, Fit, fit_linear
from allennlp_sentmatch.files.texts import Sentences
from allennlp_sentmatch.nn import matching
from allennlp_sentmatch.nn.checks import check_names
from allennlp_sentmatch.standalone.encoder import FloatArray, normalized

MATCHERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    name: getattr(matching, name)
    for name in ("concat", "heuristic", "heuristic_difference", "symmetric", "sum_difference")
}
"""The matching functions that have nothing to learn."""

COSINE = "cosine"  # the matcher of one feature, the cosine

LINEAR_MATCHERS = (*MATCHERS, COSINE)

TRAINED_MATCHERS = ("elbis", "highway", "mlb", "mfb")  # they learn, so that they need FineTuning()

SYMMETRIC = ("symmetric", "sum_difference", COSINE)  # they do not see the order of a pair

WORD_WEIGHTS = (10.0, 3.0)
"""The factors of the cosines and of the features of the words, after all features have been
standardized: these are penalized less. Cross-validation chooses one: 10 is mostly better, but 3
where single words, such as "on" and "off", decide. With a fixed penalty, it is the first one."""


def prefix_sizes(vector_size: int) -> list[int]:
    """List how many of the first dimensions have a cosine of their own: 16, 32, 64 and so on.

    In nested vectors, such as the vectors of this package's encoder, the first dimensions say less
    about the form of a sentence: with 64 of them, the answers to WikiQA's questions rank higher
    than with all 384.
    """
    return [2**n for n in range(4, (vector_size - 1).bit_length())]


def pair_inputs(
    encoder: SentenceEncoder, words: Optional[str], first: list[str], second: list[str]
) -> tuple[FloatArray, FloatArray, Optional[FloatArray]]:
    """Return what a head reads of N pairs: vectors (N, E) of both sides, features of words (N, K).

    `words` is one of `WORD_ORDERS`. A sentence that occurs twice is encoded once.
    """
    positions = {text: i for i, text in enumerate(dict.fromkeys(first + second))}
    vectors = encoder.encode(Sentences(positions))
    u, v = (vectors[[positions[text] for text in texts]] for texts in (first, second))
    return u, v, word_features(first, second, words, encoder)


class Head(Protocol):
    """The layers above an encoder that `fit` learns, for C labels or, if C is 1, a score."""

    matcher: str

    @property
    def words(self) -> Optional[str]:
        """One of `WORD_ORDERS`."""

    def outputs(self, u: FloatArray, v: FloatArray, words: Optional[FloatArray] = None) -> Array:
        """The logits (N, C), or the scores (N, 1), of pairs.

        `u` and `v` (N, E) are the vectors of the first and of the second sentences, and `words`
        (N, K) the features of the words, where the head reads them.
        """

    def tensors(self) -> dict[str, Tensor]:
        """All that was learned."""

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Take what `tensors` gave; other names, shapes or types are a `ValueError`."""


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
        self._shape = (num_outputs, self.features(vector, vector, given).shape[1])  # (C, F)

    def fit(
        self,
        features: FloatArray,
        targets: Array,
        weights: Array,
        groups: Array,
        l2: Optional[float],
        random_state: Optional[int],
    ) -> Fit:
        """Learn from the `features` (N, F) of N pairs, and return what `fit_linear` found."""
        scales = [numpy.ones(features.shape[1])]
        if self.words is not None:
            counts = features.shape[1] - self._num_compared, self._num_compared
            scales = [numpy.repeat([1.0, weight], counts) for weight in WORD_WEIGHTS]
        fit = fit_linear(features, targets, weights, groups, scales, l2, random_state)
        self.coef, self.intercept = fit.coef, fit.intercept
        return fit

    def features(self, u: FloatArray, v: FloatArray, words: Optional[FloatArray]) -> FloatArray:
        """Return the features (N, F) of N pairs.

        The columns are the matcher's features, the cosine, the words' features and the cosines of
        the first dimensions.
        """
        u, v = normalized(u), normalized(v)
        parts = []
        if self.matcher != COSINE:
            parts.append(MATCHERS[self.matcher](torch.from_numpy(u), torch.from_numpy(v)).numpy())
        if self.matcher == COSINE or words is not None:
            parts.append((u * v).sum(axis=1, keepdims=True))
        if words is not None:
            parts.append(words)
        for size in self._prefixes:
            product = normalized(u[:, :size]) * normalized(v[:, :size])
            parts.append(product.sum(axis=1, keepdims=True))
        return numpy.concatenate(parts, axis=1)

    @numpy.errstate(over="ignore", invalid="ignore")  # the outputs are checked
    def outputs(self, u: FloatArray, v: FloatArray, words: Optional[FloatArray] = None) -> Array:
        """See `Head`."""
        outputs: Array = self.features(u, v, words) @ self.coef.T + self.intercept
        return outputs

    def tensors(self) -> dict[str, Tensor]:
        """See `Head`."""
        return {
            "coef": torch.from_numpy(self.coef),  # (C, F)
            "intercept": torch.from_numpy(self.intercept),  # (C,)
        }

    def load(self, tensors: dict[str, Tensor]) -> None:
        """See `Head`."""
        check_names("tensor", tensors, ("coef", "intercept"))
        for name, tensor in tensors.items():
            shape = self._shape if name == "coef" else self._shape[:1]
            if tensor.shape != shape:
                raise ValueError(f"{name!r} must have the shape {shape}")
            if tensor.dtype != torch.float64:
                raise ValueError(f"{name!r} must be in float64, not {tensor.dtype}")
        self.coef, self.intercept = tensors["coef"].numpy(), tensors["intercept"].numpy()
