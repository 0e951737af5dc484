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
from tests.estimators.tiny_encoder import LABELS, PAIRS, SCORES, Numbers, tiny_encoder

pytestmark = pytest.mark.usefixtures("few_penalties")


class Letters:
    """Encodes sentences regardless of the marks at their ends."""

    def encode(self, sentences):
        return Numbers().encode([text.rstrip(".? \u200b") for text in sentences])


def by_chance(count=60):
    """Return pairs of sentences that occur once, and random labels."""
    pairs = [(f"a {2 * i}", f"b {2 * i + 1}") for i in range(count)]
    labels = numpy.random.default_rng(0).integers(0, 2, count)
    return pairs, labels.tolist()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            [("a", "b"), ("b", "a"), ("a", "c"), ("a", "a"), (" A", "B "), ("a", "a")],
            [0, 0, 1, 2, 0, 2],
        ),
        ([("a  b",), ("b",), ("a b",)], [0, 1, 0]),
    ],
)
def test_equal_texts_in_any_order_are_one_group(texts, expected):
    assert group_equal(texts).tolist() == expected


@pytest.mark.parametrize(
    "text", ["How do I pay", "how do I p\u00e1y!", "How\u200b do I \u201cpay\u201d?"]
)
def test_texts_that_an_encoder_hardly_distinguishes_are_one_group(text):
    """They differ in punctuation, accents and invisible characters; other words or emoji count."""
    pairs = [
        (text, "Who pays?"),
        ("How do I pay?", "Who pays"),
        ("How do I say?", "Who pays?"),
    ]
    assert group_equal(pairs).tolist() == [0, 0, 1]
    assert group_equal([("\U0001f44d",), ("\U0001f44e",)]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "\u091c\u093e\u0924\u093e \u0939\u0948",
            "\u091c\u093e\u0924\u0940 \u0939\u0948",
        ),  # Hindi: he goes, she goes
        ("\u0e1b\u0e35", "\u0e1b\u0e39"),  # Thai: year, crab
        ("\u0b95\u0bbf", "\u0b95\u0bc1"),  # Tamil
    ],
)
def test_vowels_that_are_signs_distinguish_texts(first, second):
    pairs = [(first, "a"), (second, "a"), (f"{second}!", "A"), (first, "a\ufe0f")]
    assert group_equal(pairs).tolist() == [0, 1, 1, 0]


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
    groups = numpy.array([0, 0, 0, 1, 1, 2])
    labels = numpy.array([0, 1, 2, 0, 2, 2])
    strata, counts = strata_of(groups, labels)
    assert counts.tolist() == [2, 1, 3]
    assert strata.tolist() == [1, 0, 2]


def numbered(values):
    """Return the values as numbers from 0, of which none is left out."""
    _, numbers = numpy.unique(values, return_inverse=True)
    return numbers


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=30))
def test_folds_keep_groups_together_and_leave_every_label(rows):
    groups = numbered([group for group, _ in rows])
    labels = numbered([label for _, label in rows])
    folds = divide(groups, labels, 5, 0)
    held_out_once = [row for fold in folds for row in fold.tolist()]
    assert len(held_out_once) == len(set(held_out_once))
    for held_out in folds:
        learned = numpy.setdiff1d(numpy.arange(len(rows)), held_out)
        assert not set(groups[held_out]) & set(groups[learned])
        assert set(labels[learned]) == set(labels)


def test_without_equal_examples_the_folds_are_scikit_learn_s():
    labels = numpy.random.default_rng(0).integers(0, 3, 50)
    folds = divide(numpy.arange(50), labels, 5, 3)
    reference = StratifiedKFold(5, shuffle=True, random_state=3)
    for held_out, (_, expected) in zip(folds, reference.split(labels, labels)):
        assert held_out.tolist() == expected.tolist()


def test_a_label_is_held_out_if_it_has_a_group_for_each_fold():
    """Of five folds. The labels 2 and 3 have five groups and three; 3 is in none of the folds."""
    labels = numpy.repeat([0, 1, 2, 3], [10, 10, 5, 3])
    folds = divide(numpy.arange(len(labels)), labels, 5, 0)
    assert len(folds) == 5
    for held_out in folds:
        assert numpy.bincount(labels[held_out], minlength=4).tolist() == [2, 2, 1, 0]


TWICE = [2] * len(PAIRS)
SOME_THRICE = [3 if i % 7 == 0 else 1 for i in range(len(PAIRS))]


@pytest.mark.parametrize(
    ("kind", "targets", "matcher", "counts"),
    [
        (PairClassifier, LABELS, "heuristic", SOME_THRICE),
        (PairClassifier, LABELS, "symmetric", TWICE),
        (PairClassifier, LABELS, "cosine", SOME_THRICE),
        (PairRegressor, SCORES, "heuristic", TWICE),
        (PairRegressor, SCORES, "concat", SOME_THRICE),
        (PairRegressor, SCORES, "cosine", SOME_THRICE),
    ],
)
def test_copies_of_a_pair_are_a_pair_of_their_weight(kind, targets, matcher, counts):
    """This includes all choices of cross-validation."""
    positions = numpy.repeat(numpy.arange(len(PAIRS)), counts)
    copies = [PAIRS[i] for i in positions]
    targets_of_copies = [targets[i] for i in positions]
    weighted = kind(tiny_encoder(), matcher=matcher).fit(PAIRS, targets, sample_weight=counts)
    copied = kind(tiny_encoder(), matcher=matcher).fit(copies, targets_of_copies)
    numpy.testing.assert_allclose(copied.head_.coef, weighted.head_.coef, rtol=1e-6)
    numpy.testing.assert_allclose(copied._outputs(PAIRS), weighted._outputs(PAIRS), rtol=1e-6)
    assert copied.l2_ == weighted.l2_
    assert figures_of(copied) == figures_of(weighted)
    if kind is PairClassifier:
        found = copied.threshold()
        expected = weighted.threshold()
        assert found[:4] == pytest.approx(expected[:4])
        assert found.interval == pytest.approx(expected.interval)


def test_a_label_that_is_oversampled_has_its_weight():
    rare = [pair for pair, label in zip(PAIRS, LABELS) if label == "same"]
    pairs = PAIRS + rare * 3
    labels = LABELS + ["same"] * (3 * len(rare))
    copied = PairClassifier(tiny_encoder()).fit(pairs, labels)
    weights = [4 if label == "same" else 1 for label in LABELS]
    weighted = PairClassifier(tiny_encoder()).fit(PAIRS, LABELS, weights)
    assert figures_of(copied) == figures_of(weighted)
    assert copied.threshold().interval == pytest.approx(weighted.threshold().interval)


def exchanged(pairs, labels):
    return pairs + [pair[::-1] for pair in pairs], labels * 2


def oversampled(pairs, labels):
    rare = [pair for pair, label in zip(pairs, labels) if label]
    return pairs + rare * 3, labels + [1] * (3 * len(rare))


def in_capitals(pairs, labels):
    capitals = [(f"{first} ".upper(), second) for first, second in pairs]
    return pairs + capitals, labels * 2


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


@pytest.fixture
def of_two_labels():
    """Return a classifier of 60 pairs, of which 30 have both labels."""
    pairs, labels = by_chance()
    other_labels = [1 - label for label in labels[:30]]
    classifier = PairClassifier(Numbers(), compare_words=False)
    return classifier.fit(pairs + pairs[:30], labels + other_labels)


def test_pairs_with_two_labels_are_learned(of_two_labels):
    """A pair with both labels is one pair; the folds hold out both."""
    held_out = of_two_labels.held_out_
    assert len(held_out.targets) == 90
    assert held_out.counts() == {"pairs": 60}


def test_the_interval_of_pairs_with_two_labels_is_wider(of_two_labels):
    """Kish's effective number of 30 pairs of weight 2 and 30 of weight 1 is 54, not 90."""
    share, (low, high) = of_two_labels.held_out_.accuracy()
    right = round(share * 90)
    of_90 = binomtest(right, 90).proportion_ci(0.95, "wilson")
    assert high - low > of_90.high - of_90.low


def near_copies(num_documents=30, num_pairs_each=4):
    """Return pairs that are nearly equal within a document and share its random label.

    Also return the labels, and the documents as groups.
    """
    label_of_document = numpy.random.default_rng(1).integers(0, 2, num_documents)
    documents = numpy.repeat(numpy.arange(num_documents), num_pairs_each)
    pairs = [(f"{n} a {2 * i}", f"b {2 * i + 1}") for n, i in enumerate(documents)]
    groups = [f"document {i}" for i in documents]
    return pairs, label_of_document[documents].tolist(), groups


def test_given_groups_are_held_out_together():
    pairs, labels, groups = near_copies()
    model = PairClassifier(Numbers(), compare_words=False)
    of_pairs = figures_of(model.fit(pairs, labels))
    assert of_pairs["accuracy in cross-validation"] > 0.9
    of_groups = figures_of(model.fit(pairs, labels, groups=groups))
    assert of_groups["accuracy in cross-validation"] < 0.75
    assert of_groups["pairs in cross-validation"] == 120
    assert of_groups["groups in cross-validation"] == 30
    low, high = of_groups["its 95 % interval"]
    assert high - low > 0.25  # 30 groups, not 120 pairs


def test_two_groups_with_both_labels_are_two_folds():
    pairs, labels = by_chance(20)
    model = PairClassifier(Numbers(), compare_words=False)
    model.fit(pairs, labels, groups=["x", "y"] * 10)
    assert model.held_out_.counts() == {"pairs": 20, "groups": 2}


def test_without_a_label_in_two_groups_nothing_is_held_out():
    pairs, labels = by_chance(20)
    model = PairClassifier(Numbers(), compare_words=False)
    model.fit(pairs, labels, groups=labels)
    assert not hasattr(model, "held_out_")


def test_scikit_learn_passes_groups_to_the_splitter():
    pairs, labels, groups = near_copies()
    model = PairClassifier(Numbers(), compare_words=False)
    accuracies = cross_val_score(
        model,
        pairs,
        labels,
        groups=groups,
        cv=GroupKFold(3),
    )
    assert accuracies.mean() < 0.75


def test_scikit_learn_s_metadata_routing_passes_groups_to_fit():
    if "params" not in inspect.signature(cross_val_score).parameters:
        pytest.skip("this scikit-learn has no metadata routing of cross_val_score")
    pairs, labels, groups = near_copies()
    model = PairClassifier(Numbers(), compare_words=False)
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(groups=True)
        accuracies = cross_val_score(
            model,
            pairs,
            labels,
            params={"groups": groups},
            cv=GroupKFold(3),
            error_score="raise",
        )
        assert len(accuracies) == 3
        search = GridSearchCV(model, {"matcher": ["concat"]}, cv=GroupKFold(3))
        search.fit(pairs, labels, groups=groups)
    counts = search.best_estimator_.held_out_.counts()
    assert counts == {"pairs": 120, "groups": 30}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], "there are 36 pairs and 2 groups; expected one each"),
        (
            numpy.ma.array(range(36), mask=[0] * 35 + [1]),
            "the group of pair 35 must be a string or a number, not masked",
        ),
        ([None, *range(35)], "the group of pair 0 must be a string or a number, not None"),
        ([*range(35), float("nan")], "the group of pair 35 must be a string or a number, not nan"),
        (numpy.ones((36, 1)), r"the group of each pair, not of ndarrays; ravel\(\) makes"),
        ("x" * 36, "groups must be a list with the group of each pair, not str"),
    ],
)
def test_bad_groups_are_refused(groups, message):
    with pytest.raises((TypeError, ValueError), match=message):
        PairClassifier(tiny_encoder()).fit(PAIRS, LABELS, groups=groups)


def test_groups_are_numbered():
    assert checked_groups(None, 3) is None
    assert checked_groups(numpy.array(["b", "a", "b"]), 3).tolist() == [0, 1, 0]
