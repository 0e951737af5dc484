"""Labels that other pairs contradict come first; no pair is judged by its own group."""

import pytest

from allennlp_sentmatch import PairClassifier, PairRegressor
from allennlp_sentmatch.estimators.label_errors import label_errors
from tests.estimators.tiny_encoder import LABELS, PAIRS, tiny_encoder

EXCHANGED = 3


@pytest.fixture(scope="module")
def classifier():
    return PairClassifier(tiny_encoder(), l2=0.01)


@pytest.fixture(scope="module")
def labels():
    given = list(LABELS)
    given[EXCHANGED] = "same" if given[EXCHANGED] == "other" else "other"
    return given


def test_an_exchanged_label_comes_first(classifier, labels):
    found = label_errors(PAIRS, labels, classifier)
    assert found[0].position == EXCHANGED
    for error in found:
        assert error.label == labels[error.position] != error.expected
        assert error.probability < 0.5
    assert not hasattr(classifier, "classes_")


class Judge(PairClassifier):
    """Checks that it judges no pair of a group that it has learned from."""

    def fit(self, X, y, groups):
        super().fit(X, y, groups=groups)
        self.learned_ = {frozenset(pair) for pair in X}
        self.first_learned_ = {first for first, _ in X}
        return self

    def predict_proba(self, X):
        assert not self.learned_ & {frozenset(pair) for pair in X}
        if self.random_state == 1:  # the groups are the first sentences
            assert not self.first_learned_ & {first for first, _ in X}
        return super().predict_proba(X)


def test_no_pair_is_judged_by_its_group(labels):
    judge = Judge(tiny_encoder(), l2=0.01)
    assert label_errors(PAIRS, labels, judge)
    judge.set_params(random_state=1)
    rows = [row for row, (first, second) in enumerate(PAIRS) if first <= second]
    pairs = [PAIRS[row] for row in rows]
    given = [labels[row] for row in rows]
    assert label_errors(pairs, given, judge, groups=[first for first, _ in pairs])


def test_too_few_pairs_of_a_label():
    with pytest.raises(ValueError, match="label_errors needs two different pairs"):
        label_errors(PAIRS[:3], ["x", "x", "y"], PairClassifier(tiny_encoder()))


def test_only_a_classifier_judges():
    with pytest.raises(TypeError, match="classifier must be a PairClassifier, not PairRegressor"):
        label_errors(PAIRS, LABELS, PairRegressor(tiny_encoder()))


@pytest.mark.parametrize("score", [0.5, 1.5])
def test_the_position_of_a_continuous_label_is_the_one_among_all_pairs(classifier, score):
    numbers = [float(label == "same") for label in LABELS]
    numbers[20] = score
    with pytest.raises(ValueError, match=f"the label of pair 20 is {score}: continuous numbers"):
        label_errors(PAIRS, numbers, classifier)
    scores = [number / 7 for number in range(1, 1 + len(PAIRS))]  # too few pairs of each to divide
    with pytest.raises(ValueError, match=r"the label of pair 0 is 0\.142857: continuous numbers"):
        label_errors(PAIRS, scores, classifier)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"random_state": -1}, "^random_state must be an integer from 0"),
        ({"random_state": "1"}, "^random_state must be an integer from 0"),
        ({"l2": 0}, "^l2 must be a number above 0"),
    ],
)
def test_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        label_errors(PAIRS, LABELS, PairClassifier(tiny_encoder(), **parameters))


def test_one_warning_has_the_positions_among_all_pairs(classifier):
    pairs = [*PAIRS, ("a cat sleeps", "xyz"), ("uvw", "a dog runs")]
    with pytest.warns(UserWarning, match="knows no word") as caught:
        label_errors(pairs, [*LABELS, "other", "other"], classifier)
    (message,) = [str(warning.message) for warning in caught if "no word" in str(warning.message)]
    assert f"the second sentence of pair {len(PAIRS)}" in message
    assert f"the first sentence of pair {len(PAIRS) + 1}" in message
