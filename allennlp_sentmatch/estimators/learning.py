"""Learning a linear head, and the result of learning any head.

The encoder stays as it is. `FineTuning.learn` also trains the encoder.
"""

from typing import NamedTuple, Optional

import numpy

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
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
    held_out: Optional[HeldOut] = None
    """The predictions of cross-validation; `None` without it."""
    l2: Optional[float] = None
    """The L2 penalty, if there is one."""


def learn_linear(
    encoder: SentenceEncoder,
    matcher: str,
    compare_words: Optional[bool],
    examples: Examples,
    l2: Optional[float],
    random_state: Optional[int],
) -> Learned:
    """Learn a linear head for an encoder that stays unchanged.

    `PairEstimator` describes the parameters. Equal examples are learned as one, with the sum of
    their weights.
    """
    examples = examples.merged()
    words = _word_order(matcher, compare_words)
    inputs = pair_inputs(encoder, words, examples.first, examples.second)
    vector_size = inputs[0].shape[1]
    num_words = num_features(encoder)
    head = LinearHead(vector_size, len(examples.labels), matcher, words, num_words)
    features = head.features(*inputs)
    fit = head.fit(features, examples, l2, random_state)
    return Learned(encoder, head, _held_out(fit, features, examples), fit.l2)


def _word_order(matcher: str, compare_words: Optional[bool]) -> Optional[str]:
    """Return how the words are compared, one of `WORD_ORDERS`.

    By default, all matchers except the cosine compare words.
    """
    compares = matcher != COSINE if compare_words is None else compare_words
    if not compares:
        return None
    return "unordered" if matcher in SYMMETRIC else "ordered"


def _held_out(fit: Fit, features: Array, examples: Examples) -> Optional[HeldOut]:
    """Return the predictions for the examples that the folds held out; `None` for scores."""
    rows = fit.held_out
    if not len(rows) or len(examples.labels) == 1:
        return None
    outputs = fit.outputs
    has_one_feature = numpy.count_nonzero(fit.coef.any(axis=0)) == 1
    if has_one_feature and len(examples.labels) == 2:  # the feature decides the ranks
        outputs = features[rows] @ fit.coef.T + fit.intercept
    return HeldOut(
        outputs,
        fit.outputs.argmax(axis=1),
        examples.targets[rows],
        examples.counts[rows],
        examples.pairs[rows],
        examples.groups[rows],
    )
