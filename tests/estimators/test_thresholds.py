"""Thresholds, against an exhaustive search, and their intervals, against SciPy's."""

from types import SimpleNamespace

import numpy
import pytest
from scipy.special import softmax
from scipy.stats import binomtest, spearmanr
from sklearn.metrics import precision_recall_fscore_support

from allennlp_sentmatch import FineTuning, PairClassifier
from allennlp_sentmatch.estimators import linear
from allennlp_sentmatch.estimators.thresholds import choose_threshold
from tests.estimators.tiny_encoder import LABELS, PAIRS, tiny_encoder

pytestmark = pytest.mark.usefixtures("few_penalties")


def noisy(seed, size=60):
    """Scores with ties, labels that often agree with them, and weights."""
    generator = numpy.random.default_rng(seed)
    scores = generator.uniform(size=size).round(2)
    return scores, generator.uniform(size=size) < scores, generator.integers(1, 4, size=size)


def test_the_best_f1_by_hand():
    """At 0.4, precision 3/4 and recall 1; at 0.7, 2/2 and 2/3."""
    scores = numpy.array([0.1, 0.2, 0.4, 0.6, 0.7, 0.9])
    found = choose_threshold(scores, numpy.array([0, 0, 1, 0, 1, 1]) == 1, numpy.ones(6))
    assert found.probability == 0.3  # the middle of 0.2 and 0.4
    assert (found.precision, found.recall, found.f1) == (0.75, 1, pytest.approx(6 / 7))


AIMS = ("precision", "recall", "f1")


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("seed", range(2))
def test_no_other_threshold_is_better(seed, aim):
    scores, is_right, weights = noisy(seed)

    def figures(threshold):
        settings = {"average": "binary", "sample_weight": weights}
        found = precision_recall_fscore_support(is_right, scores >= threshold, **settings)
        return dict(zip(AIMS, found))

    found = choose_threshold(scores, is_right, weights, aim, 0.7 if aim != "f1" else 0)
    assert figures(found.probability) == pytest.approx(dict(zip(AIMS, found[1:4])))
    every = [figures(score) for score in set(scores)]
    other = {"precision": "recall", "recall": "precision", "f1": "f1"}[aim]
    reached = [one[other] for one in every if aim == "f1" or one[aim] >= 0.7]
    assert getattr(found, other) == pytest.approx(max(reached))


@pytest.mark.parametrize("aim", AIMS)
def test_intervals_are_wilson_s(aim):
    scores, is_right, _ = noisy(6)
    wanted = 0 if aim == "f1" else 0.7
    found = choose_threshold(scores, is_right, numpy.ones(60), aim, wanted)
    given = scores >= found.probability
    number = {"precision": given, "recall": is_right, "f1": given | is_right}[aim].sum()
    expected = binomtest(int((given & is_right).sum()), int(number)).proportion_ci(0.95, "wilson")
    low, high = (2 * end / (1 + end) for end in expected) if aim == "f1" else expected
    assert found.interval == pytest.approx((low, high), abs=1e-6)
    scaled = choose_threshold(scores, is_right, numpy.full(60, 1e-3), aim, wanted)
    assert scaled.interval == pytest.approx(found.interval)


def test_what_cannot_be_reached_is_refused():
    scores = numpy.array([0.9, 0.8, 0.7, 0.6])
    is_right = numpy.array([0, 1, 1, 0]) == 1
    message = "the precision 0.95 on the 4 pairs .*; the highest is 0.6667, with a recall of 1"
    with pytest.raises(ValueError, match=message):
        choose_threshold(scores, is_right, numpy.ones(4), "precision", 0.95)
    assert choose_threshold(scores, is_right, numpy.ones(4), "recall", 1).probability == 0.65


def drawn(seed, size=200):
    """Scores from 0 to 1 that are the probabilities of the label.

    From a threshold t on, the precision for all pairs is (1 + t) / 2.
    """
    generator = numpy.random.default_rng(seed)
    scores = generator.uniform(size=size)
    return scores, generator.uniform(size=size) < scores, numpy.ones(size)


@pytest.mark.parametrize(("precision", "size"), [(0.8, 500), (0.9, 1500)])
def test_other_pairs_reach_a_precision_that_is_sure(precision, size):
    """Counts of 100 draws; without `sure`, half of them reach the precision."""
    reached = {True: 0, False: 0}
    missed = {True: 0, False: 0}
    for seed in range(100):
        for sure in reached:
            try:
                found = choose_threshold(*drawn(seed, size), "precision", precision, sure=sure)
            except ValueError:  # no threshold is sure
                continue
            assert not sure or found.interval[0] >= precision
            is_reached = (1 + found.probability) / 2 >= precision
            reached[sure] += is_reached
            missed[sure] += not is_reached
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


def test_what_cannot_be_sure_is_refused():
    scores, is_right, weights = drawn(0, 40)
    with pytest.raises(ValueError, match=r"sure to reach the precision 0\.99: of the 40 pairs"):
        choose_threshold(scores, is_right, weights, "precision", 0.99, sure=True)
    with pytest.raises(ValueError, match="sure to reach the precision 1: of the 40 pairs"):
        choose_threshold(scores, is_right, weights, "precision", 1, sure=True)


def test_an_interval_counts_groups():
    """Four copies of a pair count as one pair."""
    scores, is_right, weights = drawn(1, 50)
    expected = choose_threshold(scores, is_right, weights).interval
    copies = [numpy.tile(part, 4) for part in (scores, is_right, weights, numpy.arange(50))]
    found = choose_threshold(*copies[:3], groups=copies[3]).interval
    assert found == pytest.approx(expected)
    assert choose_threshold(*copies[:3]).interval[0] > expected[0]


class Numbers:
    """Encodes numbers as unrelated vectors."""

    def encode(self, sentences):
        seeds = [int(text) for text in sentences]
        return numpy.array([numpy.random.default_rng(seed).standard_normal(64) for seed in seeds])


@pytest.mark.parametrize("count", [80, 1000])
def test_the_scores_are_of_pairs_held_out(count, monkeypatch):
    """The labels are noise, which the classifier memorized for pairs that it saw."""
    monkeypatch.setattr(linear, "L2_PENALTIES", (0.1,))
    pairs = [(f"{2 * i}", f"{2 * i + 1}") for i in range(count)]
    labels = numpy.random.default_rng(0).uniform(size=count) < 0.5
    classifier = PairClassifier(Numbers(), compare_words=False).fit(pairs, labels)
    if count == 80:
        assert classifier.score(pairs, labels) > 0.85
    assert len(classifier.held_out_.targets) == {80: 80, 1000: 200}[count]
    assert classifier.threshold(recall=0.5).precision < 0.75


@pytest.fixture(scope="module")
def classifier():
    return PairClassifier(tiny_encoder(), matcher="cosine").fit(PAIRS, LABELS)


def test_the_cosine_is_one_feature(classifier):
    """The logit is a line in the cosine; the words are also features, if requested."""
    cosines = classifier.encoder_.similarity(*zip(*PAIRS))
    logits = numpy.diff(classifier._outputs(PAIRS))[:, 0]
    slope, start = numpy.polyfit(cosines, logits, 1)
    numpy.testing.assert_allclose(logits, start + slope * cosines, atol=1e-5)
    assert slope > 0
    assert classifier.head_.coef.shape == (2, 1)
    with_words = PairClassifier(tiny_encoder(), matcher="cosine", compare_words=True, l2=0.1).fit(
        PAIRS, LABELS
    )
    assert with_words.head_.coef.shape == (2, 17)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_held_out_rank_as_their_cosines_do(seed):
    """With few random labels, too, no fold's model may rank pairs by its base rate."""
    generator = numpy.random.default_rng(seed)
    pairs = [(f"{2 * i}", f"{2 * i + 1}") for i in range(16)]
    labels = generator.permutation([0, 1] * 8)
    classifier = PairClassifier(Numbers(), matcher="cosine").fit(pairs, labels)
    cosines = classifier.encoder_.similarity(*zip(*pairs))
    order = numpy.array([int(first) // 2 for first, _ in pairs])[classifier.held_out_.pairs]
    margins = numpy.diff(classifier.held_out_.outputs)[:, 0]
    correlation = spearmanr(margins, cosines[order])[0]
    assert abs(correlation) == pytest.approx(1)
    assert numpy.ptp(softmax(classifier.held_out_.outputs, axis=1)[:, 1]) > 0.02


def test_what_is_loaded_has_no_threshold(classifier, tmp_path):
    assert classifier.threshold(precision=0.6, label="other").precision >= 0.6
    classifier.save(tmp_path / "folder")
    with pytest.raises(ValueError, match=r"threshold needs .*; save does not keep it"):
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
    "parameters", [{"l2": 0.1}, {"head": FineTuning(num_epochs=1, batch_size=9)}]
)
def test_without_cross_validation_there_is_no_threshold(parameters):
    classifier = PairClassifier(tiny_encoder(), matcher="symmetric").fit(PAIRS, LABELS)
    assert classifier.threshold()
    classifier.set_params(**parameters).fit(PAIRS, LABELS)
    with pytest.raises(ValueError, match="threshold needs the cross-validation of fit"):
        classifier.threshold()
    with pytest.raises(ValueError, match="not fitted yet"):
        PairClassifier(tiny_encoder()).threshold()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_cosines_give_the_share_of_the_label(value):
    constant = SimpleNamespace(encode=lambda sentences: numpy.full((len(sentences), 3), value))
    labels = ["no"] * 24 + ["yes"] * 12
    classifier = PairClassifier(constant, matcher="cosine").fit(PAIRS, labels)
    numpy.testing.assert_allclose(classifier.predict_proba(PAIRS)[:, 1], 1 / 3, atol=1e-3)
    assert classifier.threshold(recall=1).precision == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="no threshold reaches the precision"):
        classifier.threshold(precision=0.9)


def test_the_smallest_data():
    def fitted(labels):
        return PairClassifier(tiny_encoder(), matcher="cosine").fit(
            PAIRS[: len(labels)], list(labels)
        )

    low, high = fitted("abab").threshold().interval
    assert low < 0.4 < high
    with pytest.raises(ValueError, match="two pairs of each of two labels"):
        fitted("ab").threshold()
    three = fitted("abcabcabc")
    assert three.threshold(recall=0.5, label="c").recall >= 0.5
    with pytest.raises(ValueError, match=r"label must be one of \['a', 'b', 'c'\]; got None"):
        three.threshold()
    with pytest.raises(ValueError, match="no pair held out in cross-validation has the label 'c'"):
        fitted("ababababc").threshold(label="c")
