"""Thresholds, against an exhaustive search, and their intervals, against SciPy's."""

import numpy
import pytest
from scipy.special import softmax
from scipy.stats import binomtest, spearmanr
from sklearn.metrics import precision_recall_fscore_support

from allennlp_sentmatch import FineTuning, PairClassifier
from allennlp_sentmatch.estimators import linear
from allennlp_sentmatch.estimators.thresholds import choose_threshold
from tests.estimators.tiny_encoder import LABELS, PAIRS, Numbers, tiny_encoder

pytestmark = pytest.mark.usefixtures("few_penalties")


def noisy(seed, size=60):
    """Return scores with ties, labels that often agree with them, and weights."""
    generator = numpy.random.default_rng(seed)
    scores = generator.uniform(size=size).round(2)
    is_right = generator.uniform(size=size) < scores
    weights = generator.integers(1, 4, size=size)
    return scores, is_right, weights


def test_the_best_f1_by_hand():
    """At 0.4, precision 3/4 and recall 1; at 0.7, 2/2 and 2/3."""
    scores = numpy.array([0.1, 0.2, 0.4, 0.6, 0.7, 0.9])
    is_right = numpy.array([False, False, True, False, True, True])
    found = choose_threshold(scores, is_right, numpy.ones(6))
    assert found.probability == 0.3  # the middle of 0.2 and 0.4
    assert found.precision == 0.75
    assert found.recall == 1
    assert found.f1 == pytest.approx(6 / 7)


AIMS = ("precision", "recall", "f1")


WANTED = {"precision": 0.7, "recall": 0.7, "f1": 0}
"""The share that a threshold must reach; the best F1 is chosen without one."""


def figures_at(threshold, scores, is_right, weights):
    """Return precision, recall and F1 of a threshold, by scikit-learn."""
    precision, recall, f1, _ = precision_recall_fscore_support(
        is_right,
        scores >= threshold,
        average="binary",
        sample_weight=weights,
    )
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("aim", "maximized"),
    [
        ("precision", "recall"),
        ("recall", "precision"),
        ("f1", "f1"),
    ],
)
def test_no_other_threshold_is_better(seed, aim, maximized):
    scores, is_right, weights = noisy(seed)
    found = choose_threshold(scores, is_right, weights, aim, WANTED[aim])
    shown = {name: getattr(found, name) for name in AIMS}
    assert shown == pytest.approx(figures_at(found.probability, scores, is_right, weights))
    candidates = []
    for threshold in set(scores):
        figures = figures_at(threshold, scores, is_right, weights)
        if figures[aim] >= WANTED[aim]:
            candidates.append(figures[maximized])
    assert shown[maximized] == pytest.approx(max(candidates))


@pytest.mark.parametrize("aim", AIMS)
def test_intervals_are_wilson_s(aim):
    """F1 is 2 p / (1 + p) of the share p of right pairs among those chosen or right."""
    scores, is_right, _ = noisy(6)
    found = choose_threshold(scores, is_right, numpy.ones(60), aim, WANTED[aim])
    is_chosen = scores >= found.probability
    counted = {
        "precision": is_chosen,
        "recall": is_right,
        "f1": is_chosen | is_right,
    }[aim]
    num_hits = int((is_chosen & is_right).sum())
    low, high = binomtest(num_hits, int(counted.sum())).proportion_ci(0.95, "wilson")
    if aim == "f1":
        low = 2 * low / (1 + low)
        high = 2 * high / (1 + high)
    assert found.interval == pytest.approx((low, high), abs=1e-6)
    scaled = choose_threshold(scores, is_right, numpy.full(60, 1e-3), aim, WANTED[aim])
    assert scaled.interval == pytest.approx(found.interval)


def test_what_cannot_be_reached_is_refused():
    scores = numpy.array([0.9, 0.8, 0.7, 0.6])
    is_right = numpy.array([False, True, True, False])
    message = "the precision 0.95 on the 4 pairs .*; the highest is 0.6667, with a recall of 1"
    with pytest.raises(ValueError, match=message):
        choose_threshold(scores, is_right, numpy.ones(4), "precision", 0.95)
    found = choose_threshold(scores, is_right, numpy.ones(4), "recall", 1)
    assert found.probability == 0.65


def drawn(seed, size=200):
    """Return scores from 0 to 1 that are the probabilities of the label, labels, and weights 1.

    From a threshold t on, the precision for all pairs is (1 + t) / 2.
    """
    generator = numpy.random.default_rng(seed)
    scores = generator.uniform(size=size)
    is_right = generator.uniform(size=size) < scores
    return scores, is_right, numpy.ones(size)


@pytest.mark.parametrize(("precision", "size"), [(0.8, 500), (0.9, 1500)])
def test_other_pairs_reach_a_precision_that_is_sure(precision, size):
    """Counts of 100 draws; without `sure`, half of them reach the precision."""
    reached = {True: 0, False: 0}
    missed = {True: 0, False: 0}
    for seed in range(100):
        scores, is_right, weights = drawn(seed, size)
        for sure in (True, False):
            try:
                found = choose_threshold(
                    scores, is_right, weights, "precision", precision, sure=sure
                )
            except ValueError:  # no threshold is sure
                continue
            if sure:
                assert found.interval[0] >= precision
            if (1 + found.probability) / 2 >= precision:
                reached[sure] += 1
            else:
                missed[sure] += 1
    assert reached[True] >= 90
    assert missed[True] <= 5
    assert missed[False] > 30


def test_a_recall_can_be_sure():
    scores, is_right, weights = drawn(0)
    found = choose_threshold(scores, is_right, weights, "recall", 0.9, sure=True)
    assert found.interval[0] >= 0.9
    lowest = choose_threshold(scores, is_right, weights, "recall", 0.9)
    assert found.recall > lowest.recall
    assert found.probability < lowest.probability


def test_a_sure_recall_of_many_pairs_counts_their_groups_twice(monkeypatch):
    """Once for all thresholds, and once for the chosen one: each count reads all pairs."""
    counts = []
    unique = numpy.unique
    monkeypatch.setattr(numpy, "unique", lambda *a, **k: counts.append(a) or unique(*a, **k))
    choose_threshold(*drawn(0, 1000), "recall", 0.9, sure=True)
    assert len(counts) == 2


@pytest.mark.parametrize("precision", [0.99, 1])
def test_what_cannot_be_sure_is_refused(precision):
    scores, is_right, weights = drawn(0, 40)
    message = f"sure to reach the precision {precision}: of the 40 pairs"
    with pytest.raises(ValueError, match=message):
        choose_threshold(
            scores,
            is_right,
            weights,
            "precision",
            precision,
            sure=True,
        )


def test_an_interval_counts_groups():
    """Four copies of a pair count as one pair."""
    scores, is_right, weights = drawn(1, 50)
    expected = choose_threshold(scores, is_right, weights).interval
    copies = [numpy.tile(part, 4) for part in (scores, is_right, weights)]
    groups = numpy.tile(numpy.arange(50), 4)
    found = choose_threshold(*copies, groups=groups).interval
    assert found == pytest.approx(expected)
    without_groups = choose_threshold(*copies).interval
    assert without_groups[0] > expected[0]


@pytest.mark.parametrize(("count", "num_held_out"), [(80, 80), (1000, 200)])
def test_the_scores_are_of_pairs_held_out(count, num_held_out, monkeypatch):
    """The labels are noise, which the classifier memorized for pairs that it saw."""
    monkeypatch.setattr(linear, "L2_PENALTIES", (0.1,))
    pairs = [(f"{2 * i}", f"{2 * i + 1}") for i in range(count)]
    labels = numpy.random.default_rng(0).uniform(size=count) < 0.5
    classifier = PairClassifier(Numbers(64), compare_words=False).fit(pairs, labels)
    if count == 80:
        assert classifier.score(pairs, labels) > 0.85
    assert len(classifier.held_out_.targets) == num_held_out
    assert classifier.threshold(recall=0.5).precision < 0.75


@pytest.fixture(scope="module")
def classifier():
    return PairClassifier(tiny_encoder(), matcher="cosine").fit(PAIRS, LABELS)


def test_the_cosine_is_one_feature(classifier):
    """The logit is a line in the cosine."""
    assert classifier.head_.coef.shape == (2, 1)
    cosines = classifier.encoder_.similarity(*zip(*PAIRS))
    logits = numpy.diff(classifier._outputs(PAIRS))[:, 0]
    slope, start = numpy.polyfit(cosines, logits, 1)
    assert slope > 0
    numpy.testing.assert_allclose(logits, start + slope * cosines, atol=1e-5)


def test_the_words_are_also_features_if_requested():
    classifier = PairClassifier(
        tiny_encoder(),
        matcher="cosine",
        compare_words=True,
        l2=0.1,
    )
    classifier.fit(PAIRS, LABELS)
    assert classifier.head_.coef.shape == (2, 17)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_held_out_rank_as_their_cosines_do(seed):
    """With few random labels, too, no fold's model may rank pairs by its base rate."""
    labels = numpy.random.default_rng(seed).permutation([0, 1] * 8)
    pairs = [(f"{2 * i}", f"{2 * i + 1}") for i in range(16)]
    classifier = PairClassifier(Numbers(64), matcher="cosine").fit(pairs, labels)
    held_out = classifier.held_out_
    cosines = classifier.encoder_.similarity(*zip(*pairs))
    margins = numpy.diff(held_out.outputs)[:, 0]
    correlation, _ = spearmanr(margins, cosines[held_out.pairs])
    assert abs(correlation) == pytest.approx(1)
    probabilities = softmax(held_out.outputs, axis=1)[:, 1]
    assert numpy.ptp(probabilities) > 0.02


def test_of_three_labels_no_model_that_has_seen_a_pair_gives_its_probabilities():
    """They are for the label that the fold's model has predicted."""
    labels = numpy.random.default_rng(0).permutation([0, 1, 2] * 8)
    pairs = [(f"{2 * i}", f"{2 * i + 1}") for i in range(24)]
    held_out = PairClassifier(Numbers(64), matcher="cosine").fit(pairs, labels).held_out_
    assert held_out.outputs.argmax(axis=1).tolist() == held_out.predicted.tolist()


def test_what_is_loaded_has_no_threshold(classifier, tmp_path):
    assert classifier.threshold(precision=0.6, label="other").precision >= 0.6
    classifier.save(tmp_path / "folder")
    with pytest.raises(ValueError, match="which save does not keep"):
        PairClassifier.load(tmp_path / "folder").threshold()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"precision": 0}, "precision must be a number above 0 and at most 1; got 0"),
        ({"recall": 1.5}, "recall must be a number above 0 and at most 1; got 1.5"),
        ({"precision": True}, "precision must be a number"),
        ({"recall": float("nan")}, "recall must be a number"),
        ({"precision": 0.9, "recall": 0.9}, "a precision or a recall, not both"),
        ({"sure": True}, "sure must be True or False, and needs a precision or a recall; got True"),
        ({"precision": 0.9, "sure": 1}, "sure must be True or False, .*; got 1"),
        ({"label": "Same"}, r"label must be one of \['other', 'same'\]; got 'Same'"),
    ],
)
def test_bad_arguments_are_refused(classifier, arguments, message):
    with pytest.raises(ValueError, match=message):
        classifier.threshold(**arguments)


@pytest.mark.parametrize(
    "parameters",
    [
        {"l2": 0.1},
        {"head": FineTuning(num_epochs=1, batch_size=9)},
    ],
)
def test_without_cross_validation_there_is_no_threshold(parameters):
    classifier = PairClassifier(tiny_encoder(), matcher="symmetric").fit(PAIRS, LABELS)
    assert classifier.threshold()
    classifier.set_params(**parameters).fit(PAIRS, LABELS)
    with pytest.raises(ValueError, match="threshold needs the cross-validation of fit"):
        classifier.threshold()


def test_before_fit_there_is_no_threshold():
    with pytest.raises(ValueError, match="not fitted yet"):
        PairClassifier(tiny_encoder()).threshold()


class Constant:
    """Encodes every sentence as the same number, three times."""

    def __init__(self, value):
        self.value = value

    def encode(self, sentences):
        return numpy.full((len(sentences), 3), self.value)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_cosines_give_the_share_of_the_label(value):
    labels = ["no"] * 24 + ["yes"] * 12
    classifier = PairClassifier(Constant(value), matcher="cosine").fit(PAIRS, labels)
    probabilities = classifier.predict_proba(PAIRS)[:, 1]
    numpy.testing.assert_allclose(probabilities, 1 / 3, atol=1e-3)
    assert classifier.threshold(recall=1).precision == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="no threshold reaches the precision"):
        classifier.threshold(precision=0.9)


def fitted(labels):
    """Return a classifier of as many pairs as there are letters, which are their labels."""
    classifier = PairClassifier(tiny_encoder(), matcher="cosine")
    return classifier.fit(PAIRS[: len(labels)], list(labels))


def test_two_pairs_of_each_label_are_enough():
    low, high = fitted("abab").threshold().interval
    assert low < 0.4
    assert high > 0.4


def test_one_pair_of_each_label_is_too_few():
    with pytest.raises(ValueError, match="two different pairs of each of two labels"):
        fitted("ab").threshold()


def test_one_of_three_labels_must_be_named():
    classifier = fitted("abcabcabc")
    assert classifier.threshold(recall=0.5, label="c").recall >= 0.5
    with pytest.raises(ValueError, match=r"label must be one of \['a', 'b', 'c'\]; got None"):
        classifier.threshold()


def test_a_label_that_was_not_held_out_has_no_threshold():
    classifier = fitted("ababababc")
    with pytest.raises(ValueError, match="no pair held out in cross-validation has the label 'c'"):
        classifier.threshold(label="c")
