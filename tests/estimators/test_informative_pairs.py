import numpy
import pandas
import pytest

from allennlp_sentmatch import PairClassifier
from allennlp_sentmatch.estimators.informative_pairs import least_certain
from allennlp_sentmatch.estimators.pairs import checked_pairs
from tests.estimators.tiny_encoder import LABELS, PAIRS, tiny_encoder

POOL = [("a", "b"), ("c", "d"), ("B", " a"), ("e", "f"), ("g", "h")]
PROBABILITIES = [
    [0.6, 0.3, 0.1],
    [0.4, 0.35, 0.25],
    [0.5, 0.5, 0.0],
    [0.9, 0.1, 0],
    [0.3, 0.1, 0.6],
]
"""Margins of .3, .05, 0 (of a pair that is equal to the first), .8 and .3."""


def test_the_smallest_margins_come_first_and_equal_pairs_once():
    pairs = checked_pairs(POOL)
    for n in (1, 3, 4):
        chosen = least_certain(numpy.array(PROBABILITIES), pairs, n)
        assert chosen.tolist() == [1, 0, 4, 3][:n]


@pytest.mark.parametrize("n", [0, -1, 5, 2.0, "2", True, None])
def test_impossible_numbers(n):
    with pytest.raises(ValueError, match="n must be "):
        least_certain(numpy.array(PROBABILITIES), checked_pairs(POOL), n)


def test_a_classifier_chooses_what_it_is_least_certain_of():
    classifier = PairClassifier(tiny_encoder()).fit(PAIRS, LABELS)
    pool = pandas.DataFrame(PAIRS, columns=["first", "second"])
    differences = abs(classifier.decision_function(PAIRS))
    chosen = classifier.most_informative(pool, 3)
    assert differences[chosen[0]] == differences.min()
    assert (numpy.diff(differences[chosen]) >= 0).all()
    with pytest.raises(ValueError, match="not fitted"):
        PairClassifier(tiny_encoder()).most_informative(pool, 3)
