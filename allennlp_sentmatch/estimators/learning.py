"""Learners of a head, and their result."""

from typing import NamedTuple, Optional, Protocol

import numpy

from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.vector_table import Array
from allennlp_sentmatch.corpora.word_comparison import num_features
from allennlp_sentmatch.estimators.examples import Examples
from allennlp_sentmatch.estimators.heads import (
    COSINE,
    SYMMETRIC,
    Head,
    LinearHead,
    pair_inputs,
)
from allennlp_sentmatch.estimators.linear import Fit
from allennlp_sentmatch.estimators.thresholds import HeldOut


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
