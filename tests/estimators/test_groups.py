"""Equal pairs, and pairs of a given group, are learned or held out together."""

import inspect

import numpy
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score

from allennlp_sentmatch import PairClassifier, PairRegressor
from allennlp_sentmatch.estimators.estimator_folder import figures_of
from allennlp_sentmatch.estimators.groups import (
    checked_groups,
    divide,
    group_equal,
    joined_groups,
    strata_of,
)
from tests.estimators.tiny_encoder import LABELS, PAIRS, SCORES, tiny_encoder

pytestmark = pytest.mark.usefixtures("few_penalties")


class Numbers:
    """Encodes sentences that end in a number, which determines the vectors."""

    def encode(self, sentences):
        seeds = [int(text.split()[-1]) for text in sentences]
        return numpy.array([numpy.random.default_rng(seed).standard_normal(16) for seed in seeds])


class Letters:
    """Encodes sentences regardless of the marks at their ends."""

    def encode(self, sentences):
        return Numbers().encode([text.rstrip(".? \u200b") for text in sentences])


def by_chance(count=60):
    """Pairs of sentences that occur once, with random labels."""
    pairs = [(f"a {2 * i}", f"b {2 * i + 1}") for i in range(count)]
    return pairs, numpy.random.default_rng(0).integers(0, 2, count).tolist()


def test_equal_texts_in_any_order_are_one_group():
    pairs = [("a", "b"), ("b", "a"), ("a", "c"), ("a", "a"), (" A", "B "), ("a", "a")]
    assert group_equal(pairs).tolist() == [0, 0, 1, 2, 0, 2]
    assert group_equal([("a  b",), ("b",), ("a b",)]).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "text", ["How do I pay", "how do I p\u00e1y!", "How\u200b do I \u201cpay\u201d?"]
)
def test_texts_that_an_encoder_hardly_distinguishes_are_one_group(text):
    """They differ in punctuation, accents and invisible characters; other words or emoji count."""
    pairs = [(text, "Who pays?"), ("How do I pay?", "Who pays"), ("How do I say?", "Who pays?")]
    assert group_equal(pairs).tolist() == [0, 0, 1]
    assert group_equal([("\U0001f44d",), ("\U0001f44e",)]).tolist() == [0, 1]


@pytest.mark.parametrize("mark", [".", " ?", "\u200b"])
def test_near_copies_do_not_teach_the_labels_of_held_out_pairs(mark):
    """Labels by chance cannot be learned, with or without a second copy of each pair."""
    pairs, labels = by_chance(40)
    copies = [(first + mark, second + mark) for first, second in pairs]
    once = PairClassifier(Letters(), compare_words=False).fit(pairs, labels)
    twice = PairClassifier(Letters(), compare_words=False).fit(pairs + copies, labels * 2)
    assert twice.held_out_.counts() == {"pairs": 40}
    assert abs(twice.held_out_.accuracy()[0] - once.held_out_.accuracy()[0]) < 0.1


def test_joined_groups_are_connected():
    """The groups 0 and 1 of the first division, and 5 of the second, are joined."""
    first = numpy.array([0, 0, 1, 2, 3])
    second = numpy.array([0, 1, 1, 2, 2])
    assert joined_groups(first, second).tolist() == [0, 0, 0, 1, 1]


def test_the_rarest_label_is_the_stratum_of_a_group():
    """Label 1 is in one group, 0 in two, and 2 in three."""
    strata, counts = strata_of(numpy.array([0, 0, 0, 1, 1, 2]), numpy.array([0, 1, 2, 0, 2, 2]))
    assert counts.tolist() == [2, 1, 3]
    assert strata.tolist() == [1, 0, 2]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=30))
def test_folds_keep_groups_together_and_leave_every_label(rows):
    groups, labels = (numpy.unique(part, return_inverse=True)[1] for part in zip(*rows))
    folds = divide(groups, labels, 5, 0)
    every = numpy.concatenate([*folds, numpy.zeros(0, int)])
    assert len(every) == len(set(every.tolist()))
    for held_out in folds:
        rest = numpy.setdiff1d(numpy.arange(len(rows)), held_out)
        assert not set(groups[held_out]) & set(groups[rest])
        assert set(labels[rest]) == set(labels)


def test_without_equal_examples_the_folds_are_scikit_learn_s():
    labels = numpy.random.default_rng(0).integers(0, 3, 50)
    expected = StratifiedKFold(5, shuffle=True, random_state=3).split(labels, labels)
    for found, (_, held_out) in zip(divide(numpy.arange(50), labels, 5, 3), expected):
        assert found.tolist() == held_out.tolist()


def test_a_label_is_held_out_if_it_has_a_group_for_each_fold():
    """Of five folds. The labels 2 and 3 have five groups and three; 3 is in none of the folds."""
    labels = numpy.repeat([0, 1, 2, 3], [10, 10, 5, 3])
    folds = divide(numpy.arange(len(labels)), labels, 5, 0)
    numbers = [numpy.bincount(labels[rows], minlength=4).tolist() for rows in folds]
    assert numbers == [[2, 2, 1, 0]] * 5


TWICE = [2] * len(PAIRS)
SOME_THRICE = [3 if i % 7 == 0 else 1 for i in range(len(PAIRS))]


@pytest.mark.parametrize(
    ("kind", "matcher", "counts"),
    [
        (PairClassifier, "heuristic", SOME_THRICE),
        (PairClassifier, "symmetric", TWICE),
        (PairClassifier, "cosine", SOME_THRICE),
        (PairRegressor, "heuristic", TWICE),
        (PairRegressor, "concat", SOME_THRICE),
        (PairRegressor, "cosine", SOME_THRICE),
    ],
)
def test_copies_of_a_pair_are_a_pair_of_their_weight(kind, matcher, counts):
    """This includes all choices of cross-validation."""
    targets = LABELS if kind is PairClassifier else SCORES
    several = [i for i, count in enumerate(counts) for _ in range(count)]
    repeated = [PAIRS[i] for i in several]
    targets_of_repeated = [targets[i] for i in several]
    weighted = kind(tiny_encoder(), matcher=matcher).fit(PAIRS, targets, sample_weight=counts)
    copied = kind(tiny_encoder(), matcher=matcher).fit(repeated, targets_of_repeated)
    numpy.testing.assert_allclose(copied.head_.coef, weighted.head_.coef, rtol=1e-6)
    numpy.testing.assert_allclose(copied._outputs(PAIRS), weighted._outputs(PAIRS), rtol=1e-6)
    assert copied.l2_ == weighted.l2_
    assert figures_of(copied) == figures_of(weighted)
    if kind is PairClassifier:
        chosen = copied.threshold()
        expected = weighted.threshold()
        assert chosen[:4] == pytest.approx(expected[:4])
        assert chosen.interval == pytest.approx(expected.interval)


def test_a_label_that_is_oversampled_has_its_weight():
    labels = [*LABELS]
    rare = [i for i, label in enumerate(labels) if label == "same"]
    pairs = PAIRS + [PAIRS[i] for i in rare] * 3
    weights = [4 if label == "same" else 1 for label in labels]
    copied = PairClassifier(tiny_encoder()).fit(pairs, labels + ["same"] * (3 * len(rare)))
    weighted = PairClassifier(tiny_encoder()).fit(PAIRS, LABELS, weights)
    assert figures_of(copied) == figures_of(weighted)
    assert copied.threshold().interval == pytest.approx(weighted.threshold().interval)


def exchanged(pairs, labels):
    return pairs + [pair[::-1] for pair in pairs], labels * 2


def oversampled(pairs, labels):
    rare = [pair for pair, label in zip(pairs, labels) if label]
    return pairs + rare * 3, labels + [1] * (3 * len(rare))


def in_capitals(pairs, labels):
    return pairs + [(f"{first} ".upper(), second) for first, second in pairs], labels * 2


@pytest.mark.parametrize("matcher", ["heuristic", "symmetric"])
@pytest.mark.parametrize("again", [exchanged, oversampled, in_capitals])
def test_what_cannot_be_learned_is_not_learned(again, matcher):
    """The accuracy is within the interval of chance: the share of the more frequent label."""
    pairs, labels = again(*by_chance())
    classifier = PairClassifier(Numbers(), matcher=matcher, compare_words=False).fit(pairs, labels)
    accuracy, (low, _) = classifier.held_out_.accuracy()
    chance = max(numpy.mean(labels), 1 - numpy.mean(labels))
    assert low <= chance
    assert accuracy < chance + 0.15
    assert figures_of(classifier)["pairs in cross-validation"] == 60


def test_pairs_with_two_labels_are_learned():
    """A pair with both labels is one pair; the folds hold out both."""
    pairs, labels = by_chance()
    both = pairs + pairs[:30], labels + [1 - label for label in labels[:30]]
    classifier = PairClassifier(Numbers(), compare_words=False).fit(*both)
    held_out = classifier.held_out_
    assert len(held_out.targets) == 90
    assert held_out.counts() == {"pairs": 60}
    share, interval = held_out.accuracy()
    number = 90**2 / (30 * 2**2 + 30)  # Kish's, of 30 pairs of weight 2 and 30 of weight 1
    right = round(share * 90)
    wilson = binomtest(right, 90).proportion_ci(0.95, "wilson")
    assert number == 54
    assert interval[1] - interval[0] > wilson.high - wilson.low


def near_copies(num_documents=30, each=4):
    """Pairs of a document are nearly equal, and share its random label."""
    labels = numpy.random.default_rng(1).integers(0, 2, num_documents)
    documents = [i for i in range(num_documents) for _ in range(each)]
    pairs = [(f"{n} a {2 * i}", f"b {2 * i + 1}") for n, i in enumerate(documents)]
    return pairs, labels[documents].tolist(), [f"document {i}" for i in documents]


def test_given_groups_are_held_out_together():
    pairs, labels, groups = near_copies()
    model = PairClassifier(Numbers(), compare_words=False)
    assert figures_of(model.fit(pairs, labels))["accuracy in cross-validation"] > 0.9
    figures = figures_of(model.fit(pairs, labels, groups=groups))
    assert figures["accuracy in cross-validation"] < 0.75
    assert (figures["pairs in cross-validation"], figures["groups in cross-validation"]) == (
        120,
        30,
    )
    low, high = figures["its 95 % interval"]
    assert high - low > 0.25  # 30 groups, not 120 pairs


def test_two_groups_with_both_labels_are_two_folds():
    pairs, labels = by_chance(20)
    model = PairClassifier(Numbers(), compare_words=False).fit(
        pairs, labels, groups=["x", "y"] * 10
    )
    assert model.held_out_.counts() == {"pairs": 20, "groups": 2}
    fitted = PairClassifier(Numbers(), compare_words=False).fit(pairs, labels, groups=labels)
    assert not hasattr(fitted, "held_out_")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], "there are 36 pairs and 2 groups; expected one each"),
        ([None, *range(35)], "the group of pair 0 must be a string or a number, not None"),
        ([*range(35), float("nan")], "the group of pair 35 must be a string or a number, not nan"),
        ("x" * 36, "groups must be a list with the group of each pair, not str"),
    ],
)
def test_bad_groups_are_refused(groups, message):
    with pytest.raises((TypeError, ValueError), match=message):
        PairClassifier(tiny_encoder()).fit(PAIRS, LABELS, groups=groups)


def test_groups_are_numbered():
    assert checked_groups(None, 3) is None
    assert checked_groups(numpy.array(["b", "a", "b"]), 3).tolist() == [0, 1, 0]


def test_scikit_learn_passes_groups_on():
    """Metadata routing passes groups to the splitter and to `fit`."""
    pairs, labels, groups = near_copies()
    model = PairClassifier(Numbers(), compare_words=False)
    plain = cross_val_score(model, pairs, labels, groups=groups, cv=GroupKFold(3))
    assert plain.mean() < 0.75
    if "params" not in inspect.signature(cross_val_score).parameters:
        pytest.skip("this scikit-learn has no metadata routing of cross_val_score")
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(groups=True)
        routed = cross_val_score(
            model, pairs, labels, params={"groups": groups}, cv=GroupKFold(3), error_score="raise"
        )
        assert len(routed) == 3
        search = GridSearchCV(model, {"matcher": ["concat"]}, cv=GroupKFold(3))
        best = search.fit(pairs, labels, groups=groups).best_estimator_
    assert best.held_out_.counts() == {"pairs": 120, "groups": 30}
