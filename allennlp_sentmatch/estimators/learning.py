"""The input and the result of learning a head."""

from typing import Any, NamedTuple, Optional, Protocol

import numpy

from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.word_comparison import num_features
from allennlp_sentmatch.estimators.heads import (
    COSINE,
    SYMMETRIC,
    Head,
    LinearHead,
    pair_inputs,
)
from allennlp_sentmatch.estimators.linear import Array, Fit
from allennlp_sentmatch.estimators.thresholds import HeldOut
from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.files.texts import Sentences


class Examples(NamedTuple):
    """N pairs, and their labels or scores to learn."""

    first: Sentences
    second: Sentences
    targets: Array  # (N,), indices of the labels, all of which occur, or scores as floats
    weights: Array  # (N,), how much each pair counts in the loss
    counts: Array  # (N,), each pair's weight in figures, without the weights of labels
    pairs: Array  # (N,), numbers from 0; equal pairs, in either order, share a number
    groups: Array  # (N,), numbers from 0; a group is learned or held out as a whole

    def num_outputs(self) -> int:
        """The number of labels, or 1 for scores."""
        return 1 if self.targets.dtype.kind == "f" else int(self.targets.max()) + 1

    def merged(self) -> "Examples":
        """Return each distinct pair with its target, and the sums of its weights and counts."""
        rows = list(zip(self.first, self.second, self.targets.tolist()))
        positions = {row: i for i, row in enumerate(dict.fromkeys(rows))}
        if len(positions) == len(rows):
            return self
        places = numpy.array([positions[row] for row in rows])
        _, kept = numpy.unique(places, return_index=True)  # their first occurrences
        first, second, _ = zip(*positions)
        return Examples(
            Sentences(first),
            Sentences(second),
            self.targets[kept],
            numpy.bincount(places, self.weights),
            numpy.bincount(places, self.counts),
            self.pairs[kept],
            self.groups[kept],
        )


class Learned(NamedTuple):
    """A head, and the encoder for which it was learned."""

    encoder: SentenceEncoder
    head: Head
    held_out: Optional[HeldOut] = None  # `None` without cross-validation
    l2: Optional[float] = None  # the L2 penalty, if there is one


class Learner(Protocol):
    """Learns a head for pairs and, in fine-tuning, a new encoder."""

    def learn(
        self,
        encoder: SentenceEncoder,
        matcher: str,
        examples: Examples,
        random_state: Optional[int],
    ) -> Learned:
        """Learn from examples; `random_state` is the random seed."""


class LinearLearning(NamedTuple):
    """Learns a linear head for an encoder that stays unchanged."""

    compare_words: Optional[bool]  # by default, all matchers except the cosine compare words
    l2: Optional[float]

    def learn(
        self,
        encoder: SentenceEncoder,
        matcher: str,
        examples: Examples,
        random_state: Optional[int],
    ) -> Learned:
        """See `Learner`. Equal examples are learned as one, with the sum of their weights."""
        examples = examples.merged()
        words = self._words(matcher)
        inputs = pair_inputs(encoder, words, examples.first, examples.second)
        head = LinearHead(
            inputs[0].shape[1], examples.num_outputs(), matcher, words, num_features(encoder)
        )
        features = head.features(*inputs)
        fit = head.fit(
            features,
            examples.targets,
            examples.weights,
            examples.groups,
            self.l2,
            random_state,
        )
        return Learned(encoder, head, _held_out(fit, features, examples), fit.l2)

    def _words(self, matcher: str) -> Optional[str]:
        """Return how the words are compared, one of `WORD_ORDERS`."""
        compares = matcher != COSINE if self.compare_words is None else self.compare_words
        if not compares:
            return None
        return "unordered" if matcher in SYMMETRIC else "ordered"


def _held_out(fit: Fit, features: Array, examples: Examples) -> Optional[HeldOut]:
    """Return the examples that the folds held out, for labels."""
    rows = fit.held_out
    if not len(rows) or examples.num_outputs() == 1:
        return None
    outputs = fit.outputs
    if numpy.count_nonzero(fit.coef.any(axis=0)) == 1:  # a single feature decides the ranks
        outputs = features[rows] @ fit.coef.T + fit.intercept
    return HeldOut(
        outputs,
        fit.outputs.argmax(axis=1),
        examples.targets[rows],
        examples.counts[rows],
        examples.pairs[rows],
        examples.groups[rows],
    )


def checked_weights(sample_weight: Any, count: int) -> Array:
    """Return the weights (N,) of `count` pairs, by default 1; raise `ValueError` for an invalid
    one.
    """
    if sample_weight is None:
        return numpy.ones(count)
    with errors_name("sample_weight"):
        weights = numpy.asarray(sample_weight, float)
    if weights.shape != (count,):
        raise ValueError(f"expected {count} numbers as sample_weight; got {weights.shape}")
    right = (weights == 0) | ((weights >= 1e-9) & (weights <= 1e9))
    if not right.all():
        position = right.argmin()
        raise ValueError(
            "sample_weight must have numbers from 1e-9 to 1e9, or 0 for some pairs; the one of "
            f"pair {position} is {weights[position]}"
        )
    if not weights.any():
        raise ValueError("all pairs have the sample_weight 0; give some of them a number above 0")
    return weights
