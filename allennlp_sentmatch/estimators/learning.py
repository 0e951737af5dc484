"""What a head learns from, and what comes of it."""

from typing import NamedTuple, Optional, Protocol

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
from allennlp_sentmatch.files.texts import Sentences


class Examples(NamedTuple):
    """N pairs with what is to be learned of them."""

    first: Sentences
    second: Sentences
    targets: Array  # (N,), the indices of the labels, which all occur, or scores in floats
    weights: Array  # (N,), how much each pair counts in the loss
    counts: Array  # (N,), how often each pair counts in figures: without the weights of labels
    pairs: Array  # (N,), numbers from 0: equal pairs, in either order, have the same
    groups: Array  # (N,), numbers from 0; a group is learned or held out as a whole

    def num_outputs(self) -> int:
        """Count the labels; scores are one output."""
        return 1 if self.targets.dtype.kind == "f" else int(self.targets.max()) + 1

    def merged(self) -> "Examples":
        """Return each pair with its target once, with the sums of its weights and its counts."""
        rows = list(zip(self.first, self.second, self.targets.tolist()))
        positions = {row: i for i, row in enumerate(dict.fromkeys(rows))}
        if len(positions) == len(rows):
            return self
        places = numpy.array([positions[row] for row in rows])
        _, kept = numpy.unique(places, return_index=True)  # their first rows
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
    """A head, and the encoder that it was learned for."""

    encoder: SentenceEncoder
    head: Head
    held_out: Optional[HeldOut] = None  # without cross-validation, there is none
    l2: Optional[float] = None  # the penalty, if there is one


class Learner(Protocol):
    """Learns a head for pairs, and perhaps another encoder."""

    def learn(
        self,
        encoder: SentenceEncoder,
        matcher: str,
        examples: Examples,
        random_state: Optional[int],
    ) -> Learned:
        """Learn from examples; `random_state` is the seed of what is random."""


class LinearLearning(NamedTuple):
    """Learns a linear head of an encoder that stays as it is."""

    compare_words: Optional[bool]  # by default, all matchers but the cosine compare words
    l2: Optional[float]

    def learn(
        self,
        encoder: SentenceEncoder,
        matcher: str,
        examples: Examples,
        random_state: Optional[int],
    ) -> Learned:
        """See `Learner`. Equal examples are learned as one, which has their weights."""
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
    """Return the examples that the folds of labels held out, if there are any."""
    rows = fit.held_out
    if not len(rows) or examples.num_outputs() == 1:
        return None
    outputs = fit.outputs
    if numpy.count_nonzero(fit.coef.any(axis=0)) == 1:  # one feature, which decides the ranks
        outputs = features[rows] @ fit.coef.T + fit.intercept
    return HeldOut(
        outputs,
        fit.outputs.argmax(axis=1),
        examples.targets[rows],
        examples.counts[rows],
        examples.pairs[rows],
        examples.groups[rows],
    )
