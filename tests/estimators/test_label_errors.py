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
