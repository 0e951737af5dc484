"""The estimators are scikit-learn's linear models over the pairs' features, and fit its tools."""

import copy
import fractions
import pickle
import re
import warnings
from itertools import product

import numpy
import pandas
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import paired_cosine_distances
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.class_weight import compute_sample_weight

from allennlp_sentmatch import FineTuning, PairClassifier, PairRegressor, SentenceEncoder
from allennlp_sentmatch.corpora.word_comparison import compare_words
from allennlp_sentmatch.estimators import heads, linear
from tests.estimators.tiny_encoder import LABELS, PAIRS, SCORES, tiny_encoder

pytestmark = pytest.mark.usefixtures("few_penalties")


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder(tiny_encoder())


@pytest.fixture(scope="module")
def classifier(encoder):
    return PairClassifier(encoder).fit(PAIRS, LABELS)


def concatenated(u, v):
    return [u, v]


def with_difference_and_product(u, v):
    return [u, v, abs(u - v), u * v]


def with_signed_difference_and_product(u, v):
    return [u, v, u - v, u * v]


def difference_and_product(u, v):
    return [abs(u - v), u * v]


def sum_and_difference(u, v):
    return [u + v, abs(u - v)]


PARTS = {
    "heuristic": with_difference_and_product,
    "heuristic_difference": with_signed_difference_and_product,
    "symmetric": difference_and_product,
    "sum_difference": sum_and_difference,
    "concat": concatenated,
}
"""For each matcher, the parts of a pair's features, of vectors of length 1."""


WHOLE_SCORES = [int(score) for score in SCORES]
"""Three labels."""


def unit_vectors(encoder, texts):
    vectors = encoder.encode(texts)
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def features(encoder, matcher):
    """Return the features of the pairs, by NumPy."""
    u = unit_vectors(encoder, [first for first, _ in PAIRS])
    v = unit_vectors(encoder, [second for _, second in PAIRS])
    return numpy.concatenate(PARTS[matcher](u, v), axis=1).astype(float)


def test_the_features_of_the_words_follow_with_a_weaker_penalty():
    encoder = SentenceEncoder(tiny_encoder(20))
    x = features(encoder, "concat")
    u, v = numpy.split(x, 2, axis=1)
    cosines = [1 - paired_cosine_distances(u[:, :size], v[:, :size]) for size in (16, 32, 40)]
    compared = numpy.array([compare_words(*pair) for pair in PAIRS])
    covered = encoder.network.word_coverage(*zip(*PAIRS)).numpy()
    words = numpy.column_stack([*cosines, compared, covered])
    words = StandardScaler().fit_transform(words) * 10
    words[:, 2] *= 3  # the cosine of all dimensions
    x = numpy.hstack([StandardScaler().fit_transform(x), words])
    reference = Ridge(alpha=0.05 * len(x)).fit(x, SCORES)
    expected = reference.predict(x).clip(1, 3)
    regressor = PairRegressor(encoder, matcher="concat", l2=0.05).fit(PAIRS, SCORES)
    numpy.testing.assert_allclose(regressor.predict(PAIRS), expected, atol=3e-4)


@pytest.mark.parametrize("matcher", PARTS)
@pytest.mark.parametrize("labels", [LABELS, WHOLE_SCORES], ids=["two labels", "three labels"])
def test_a_classifier_is_a_logistic_regression(encoder, matcher, labels):
    """The objective is the mean loss + l2 / 2 ||W||^2."""
    x = features(encoder, matcher)
    regression = LogisticRegression(C=1 / (0.05 * len(x)), max_iter=9999, tol=1e-9)
    reference = make_pipeline(StandardScaler(), regression).fit(x, labels)
    classifier = PairClassifier(
        encoder,
        matcher=matcher,
        compare_words=False,
        l2=0.05,
    )
    classifier.fit(PAIRS, labels)
    numpy.testing.assert_array_equal(classifier.classes_, reference.classes_)
    probabilities = classifier.predict_proba(PAIRS)
    numpy.testing.assert_allclose(probabilities, reference.predict_proba(x), atol=1e-4)
    second, first = numpy.sort(probabilities, axis=1)[:, -2:].T
    is_sure = first - second > 1e-3
    predicted = classifier.predict(PAIRS)
    numpy.testing.assert_array_equal(predicted[is_sure], reference.predict(x)[is_sure])
    assert classifier.score(PAIRS, labels) == numpy.mean(predicted == labels)


def test_a_regressor_is_a_ridge_regression(encoder):
    x = features(encoder, "heuristic")
    ridge = make_pipeline(StandardScaler(), Ridge(alpha=0.05 * len(x))).fit(x, SCORES)
    expected = ridge.predict(x).clip(1, 3)
    regressor = PairRegressor(encoder, compare_words=False, l2=0.05).fit(PAIRS, SCORES)
    numpy.testing.assert_allclose(regressor.predict(PAIRS), expected, atol=3e-4)
    r2 = r2_score(SCORES, expected)
    assert regressor.score(PAIRS, SCORES) == pytest.approx(r2, abs=1e-3)


@pytest.mark.parametrize("one_fold", [1000, 10])
def test_without_a_penalty_the_best_one_is_chosen(encoder, monkeypatch, one_fold):
    """One of the penalties is much too strong here, and the other one is right."""
    probabilities = PairClassifier(encoder, l2=0.01).fit(PAIRS, LABELS).predict_proba(PAIRS)
    scores = PairRegressor(encoder, l2=0.01).fit(PAIRS, SCORES).predict(PAIRS)
    monkeypatch.setattr(linear, "L2_PENALTIES", (1e6, 0.01))
    monkeypatch.setattr(linear, "ONE_FOLD", one_fold)
    classifier = PairClassifier(encoder).fit(PAIRS, LABELS)
    numpy.testing.assert_allclose(classifier.predict_proba(PAIRS), probabilities, rtol=1e-3)
    regressor = PairRegressor(encoder).fit(PAIRS, SCORES)
    numpy.testing.assert_allclose(regressor.predict(PAIRS), scores)
    assert regressor.l2_ == 0.01


def test_a_pair_of_each_label_is_enough(encoder):
    pairs = PAIRS[:2]
    labels = [True, False]
    classifier = PairClassifier(encoder).fit(pairs, labels)
    assert classifier.predict(pairs).tolist() == labels


def test_a_pair_with_a_score_is_enough(encoder):
    regressor = PairRegressor(encoder).fit(PAIRS[:1], [3])
    assert regressor.predict(PAIRS[:1]) == pytest.approx([3])


SUBJECTS = ("not a", "two a", "no dog")


ENDS = ("cat", "man sees", "3 dogs run a")
OTHER_SENTENCES = [f"{start} {end}" for start in SUBJECTS for end in ENDS]


OTHERS = list(product(OTHER_SENTENCES, repeat=2))
"""Pairs of sentences that share words, numerals and negations."""


@pytest.mark.parametrize("kind", [PairClassifier, PairRegressor])
@pytest.mark.parametrize("matcher", ["cosine", "symmetric", "sum_difference"])
def test_a_symmetric_matcher_does_not_see_the_order(encoder, tmp_path, kind, matcher):
    targets = [len(first) / 10 for first, _ in OTHERS]  # only the order distinguishes them
    if kind is PairClassifier:
        targets = [first.split()[0] for first, _ in OTHERS]
    fitted = kind(encoder, matcher=matcher, compare_words=True, l2=1e-3).fit(OTHERS, targets)
    fitted.save(tmp_path / "folder")
    for estimator in (fitted, kind.load(tmp_path / "folder")):
        outputs = estimator._outputs(OTHERS)
        exchanged = estimator._outputs([pair[::-1] for pair in OTHERS])
        numpy.testing.assert_allclose(exchanged, outputs, atol=1e-6)
        assert numpy.ptp(outputs) > 0.1
        assert_exchanged_explanation(estimator, OTHERS[2])


def assert_exchanged_explanation(estimator, pair):
    """Each word has the same weight in the other order."""
    first, second = estimator.explain(pair)
    exchanged_second, exchanged_first = estimator.explain(pair[::-1])
    found = exchanged_first + exchanged_second
    assert len(found) == len(first + second)
    for (word, weight), (expected_word, expected) in zip(found, first + second):
        assert word == expected_word
        assert weight == pytest.approx(expected, abs=1e-6)


OTHER_LABELS = LABELS[::-1]


FAILURES = [
    ({"matcher": "heuristc"}, OTHER_LABELS),
    ({}, ["x"] * 36),
    ({"l2": -1}, [str(score) for score in SCORES]),
    ({}, [score / 10 for score in SCORES]),
    ({"head": FineTuning(batch_size=0)}, OTHER_LABELS),
    ({"head": FineTuning(validation_fraction=0.99)}, OTHER_LABELS),
    ({"encoder": 3}, OTHER_LABELS),
    ({"class_weight": {"x": 1, "y": 2}}, OTHER_LABELS),
]


@pytest.mark.parametrize(("parameters", "labels"), FAILURES)
def test_a_failed_fit_changes_nothing(encoder, parameters, labels):
    classifier = PairClassifier(encoder, l2=0.1).fit(PAIRS, LABELS)
    expected = classifier.predict_proba(PAIRS)
    before = dict(vars(classifier))
    with pytest.raises((ValueError, TypeError)):
        classifier.set_params(**parameters).fit(PAIRS, labels)
    assert vars(classifier) == {**before, **parameters}
    numpy.testing.assert_array_equal(classifier.predict_proba(PAIRS), expected)


@pytest.mark.parametrize(("parameters", "labels"), FAILURES)
def test_after_a_failed_fit_nothing_is_fitted(encoder, parameters, labels):
    settings = {"encoder": encoder, **parameters}
    classifier = PairClassifier(**settings)
    with pytest.raises((ValueError, TypeError)):
        classifier.fit(PAIRS, labels)
    with pytest.raises(ValueError, match="not fitted yet"):
        classifier.predict(PAIRS)


class WithMoreParameters(PairClassifier):
    """A subclass whose constructor has other parameters."""

    def __init__(self, encoder=None, more=1):
        super().__init__(encoder, l2=0.1)
        self.more = more


def test_a_subclass_may_have_other_parameters(encoder, classifier):
    fitted = WithMoreParameters(encoder, more=2).fit(PAIRS, LABELS)
    assert fitted.more == 2
    assert fitted.predict(PAIRS).tolist() == classifier.predict(PAIRS).tolist()


COUNTS = numpy.random.default_rng(0).integers(0, 4, len(PAIRS))
"""How often each pair is given, from never to three times."""


@pytest.mark.parametrize(
    ("kind", "targets", "parameters"),
    [
        (PairClassifier, LABELS, {}),
        (PairClassifier, WHOLE_SCORES, {"class_weight": "balanced"}),
        (PairClassifier, LABELS, {"class_weight": {"same": numpy.float32(5), "other": 0.5}}),
        (PairRegressor, SCORES, {}),
    ],
)
def test_weights_are_repetitions(encoder, kind, targets, parameters):
    estimator = kind(encoder, l2=1, **parameters)
    positions = numpy.repeat(numpy.arange(len(PAIRS)), COUNTS)
    pairs = [PAIRS[i] for i in positions]
    targets_of_pairs = [targets[i] for i in positions]
    repeated = clone(estimator).fit(pairs, targets_of_pairs)
    expected = repeated._outputs(PAIRS)
    for scale in (1, 1e-3):
        weighted = clone(estimator).fit(PAIRS, targets, sample_weight=COUNTS * scale)
        numpy.testing.assert_allclose(weighted._outputs(PAIRS), expected, atol=5e-4)
    score = repeated.score(pairs, targets_of_pairs)
    assert weighted.score(PAIRS, targets, COUNTS) == pytest.approx(score, abs=1e-4)
    unweighted = clone(estimator).fit(PAIRS, targets)
    assert abs(unweighted._outputs(PAIRS) - expected).max() > 0.005


@pytest.mark.parametrize("weights", ["balanced", {1: 3.0, 2: 0.5}, {3: 2}], ids=str)
def test_class_weights_are_scikit_learns(encoder, weights):
    x = features(encoder, "concat")
    weight_of_pair = compute_sample_weight(weights, WHOLE_SCORES)
    x = StandardScaler().fit(x, sample_weight=weight_of_pair).transform(x)
    reference = LogisticRegression(
        C=1 / (0.05 * weight_of_pair.sum()),
        max_iter=9999,
        tol=1e-10,
        class_weight=weights,
    )
    expected = reference.fit(x, WHOLE_SCORES).predict_proba(x)
    classifier = PairClassifier(
        encoder,
        matcher="concat",
        compare_words=False,
        l2=0.05,
        class_weight=weights,
    )
    found = classifier.fit(PAIRS, WHOLE_SCORES).predict_proba(PAIRS)
    numpy.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    "weights", [{"1": 3.0, "2": 0.5}, {"1": 3}, {"1": 2, "2": 5, "3": 4, "03": 7}]
)
def test_class_weights_of_labels_that_are_digits(encoder, weights):
    def fitted(labels, class_weight):
        classifier = PairClassifier(encoder, matcher="cosine", class_weight=class_weight)
        return classifier.fit(PAIRS, labels).predict_proba(PAIRS)

    digits = [str(int(score)) for score in WHOLE_SCORES]
    labels = [f"label {digit}" for digit in digits]
    named = {f"label {digit}": weight for digit, weight in weights.items()}
    numpy.testing.assert_array_equal(fitted(digits, weights), fitted(labels, named))


BAD_WEIGHTS = [
    ([1.0] * 35, r"expected 36 numbers as sample_weight; got \(35,\)"),
    ([1.0] * 35 + [-1], "the weight of pair 35 is -1.0"),
    ([1.0, numpy.nan] * 18, "the weight of pair 1 is nan"),
    ([0] * 36, "all pairs have the sample_weight 0; give some of them"),
    (["x"] * 36, "sample_weight: could not convert string to float"),
    ([1e308] * 36, "numbers from 1e-9 to 1e9"),
    (numpy.ma.array([1.0] * 36, mask=[False] * 35 + [True]), "the weight of pair 35 is nan"),
    (numpy.ma.array([1] * 36, mask=[True] + [False] * 35), "the weight of pair 0 is nan"),
]


@pytest.mark.parametrize(("weights", "message"), BAD_WEIGHTS)
@pytest.mark.parametrize(
    ("kind", "targets"),
    [
        (PairClassifier, LABELS),
        (PairRegressor, SCORES),
    ],
)
def test_bad_weights_are_refused(encoder, weights, message, kind, targets):
    with pytest.raises(ValueError, match=message):
        kind(encoder).fit(PAIRS, targets, sample_weight=weights)
    fitted = kind(encoder, l2=1).fit(PAIRS, targets)
    with pytest.raises(ValueError, match=message):
        fitted.score(PAIRS, targets, sample_weight=weights)


@pytest.mark.parametrize("weights", [weights for weights, _ in BAD_WEIGHTS])
def test_fine_tuning_takes_no_weights(encoder, weights):
    classifier = PairClassifier(encoder, head=FineTuning())
    with pytest.raises(ValueError, match="fine-tuning takes no sample_weight"):
        classifier.fit(PAIRS, LABELS, weights)


def test_an_improbable_label_has_a_finite_logarithm(encoder):
    classifier = PairClassifier(encoder, l2=0.1).fit(PAIRS, LABELS)
    classifier.head_.coef = classifier.head_.coef * 1e4
    assert classifier.predict_proba(PAIRS).min() == 0
    assert numpy.isfinite(classifier.predict_log_proba(PAIRS)).all()


def test_labels_that_fit_has_not_seen_are_named(classifier):
    with pytest.warns(UserWarning, match="12 of 36 pairs have labels .* 'Same'") as caught:
        score = classifier.score(PAIRS, ["Same"] * 12 + LABELS[12:])
    assert caught[0].filename == __file__
    assert score <= 2 / 3


@pytest.mark.parametrize("labels", [LABELS, WHOLE_SCORES])
def test_logarithms_are_those_of_the_probabilities(encoder, labels):
    classifier = PairClassifier(encoder, l2=0.1).fit(PAIRS, labels)
    expected = numpy.log(classifier.predict_proba(PAIRS))
    numpy.testing.assert_allclose(classifier.predict_log_proba(PAIRS), expected, atol=1e-9)


def test_the_decision_about_two_labels_is_a_logit(encoder):
    classifier = PairClassifier(encoder, l2=0.1).fit(PAIRS, LABELS)
    decisions = classifier.decision_function(PAIRS)
    expected = classifier.predict_proba(PAIRS)[:, 1]
    numpy.testing.assert_allclose(expit(decisions), expected, atol=1e-9)
    is_second = (decisions > 0).astype(int)
    decided = classifier.classes_[is_second]
    assert decided.tolist() == classifier.predict(PAIRS).tolist()


def test_decisions_about_three_labels_are_logits(encoder):
    classifier = PairClassifier(encoder, l2=0.1).fit(PAIRS, WHOLE_SCORES)
    decisions = classifier.decision_function(PAIRS)
    expected = classifier.predict_proba(PAIRS)
    numpy.testing.assert_allclose(softmax(decisions, axis=1), expected, atol=1e-9)


@pytest.mark.parametrize("l2", [0.1, None])
def test_scores_of_any_size_are_learned(encoder, l2):
    expected = PairRegressor(encoder, l2=l2).fit(PAIRS, SCORES).predict(PAIRS)
    for scale in (1e-300, 1e300):
        scores = [scale * score for score in SCORES]
        regressor = PairRegressor(encoder, l2=l2).fit(PAIRS, scores)
        numpy.testing.assert_allclose(regressor.predict(PAIRS) / scale, expected, rtol=1e-6)


def test_a_range_of_scores_that_overflows_is_refused(encoder):
    with pytest.raises(ValueError, match="too large"):
        PairRegressor(encoder).fit(PAIRS, [1e308, -1e308] * 18)


@pytest.mark.parametrize(
    ("labels", "position"),
    [
        ([0.0, 0.5, 1.0] * 12, 1),
        ([1, 2] * 17 + [2.5, 3], 34),
        ([3.5] * 36, 0),
    ],
)
def test_scores_are_no_labels(encoder, labels, position):
    """scikit-learn's type_of_target calls them continuous."""
    message = f"the label of pair {position} is .*: continuous .* scores, which PairRegressor"
    with pytest.raises(ValueError, match=message):
        PairClassifier(encoder).fit(PAIRS, labels)


def test_whole_numbers_may_be_labels(encoder):
    classifier = PairClassifier(encoder, l2=1).fit(PAIRS, [1.0, 2.0] * 18)
    assert classifier.classes_.tolist() == [1, 2]


def test_predicted_scores_stay_within_the_scores_of_fit(encoder, tmp_path):
    """With few pairs, lines leave the range; the order of the scores does not change."""
    cosines = encoder.similarity(*zip(*OTHERS)).astype(float)
    order = numpy.argsort(cosines)
    pairs = [OTHERS[i] for i in order]
    cosines = cosines[order]
    low, high = numpy.quantile(cosines, [0.3, 0.7])
    known = numpy.flatnonzero((low <= cosines) & (cosines <= high))
    lowest = cosines[known].min()
    highest = cosines[known].max()
    regressor = PairRegressor(encoder, matcher="cosine")
    regressor.fit([pairs[i] for i in known], cosines[known])
    predicted = regressor.predict(pairs)
    assert lowest <= predicted.min()
    assert predicted.min() < predicted.max()
    assert predicted.max() <= highest
    is_higher = numpy.diff(cosines) > 1e-6
    assert (numpy.diff(predicted)[is_higher] > 0).all()
    expected = cosines.clip(lowest, highest)
    numpy.testing.assert_allclose(predicted, expected, atol=1e-2)
    regressor.save(tmp_path / "folder")
    loaded = PairRegressor.load(tmp_path / "folder")
    numpy.testing.assert_allclose(loaded.predict(pairs), predicted)


@pytest.mark.parametrize(
    "ends",
    [
        (0, 5),
        (-1.7e308, 1.7e308),
        (1e-300, 3e-300),
        (2, 2),
    ],
)
def test_scores_are_bent_only_at_the_ends(ends):
    low, high = (float(end) for end in ends)
    middle = low / 2 + high / 2
    shares = numpy.linspace(-0.2, 1.2, 281)
    given = low * (1 - shares) + high * shares
    finite = numpy.isfinite(given)
    found = heads.within(given, low, high)
    assert (low <= found[finite]).all()
    assert (found[finite] <= high).all()
    assert heads.within(numpy.array([middle, numpy.inf]), low, high).tolist() == [middle, numpy.inf]
    inside = (shares > 0.001) & (shares < 0.999)
    numpy.testing.assert_allclose(found[inside], given[inside])
    if low < high:
        assert (numpy.diff(found[finite]) > 0).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("l2", numpy.float32(0.1)),
        ("l2", numpy.int64(1)),
        ("l2", fractions.Fraction(1, 4)),
        ("l2", None),
        ("l2", 1),
        ("random_state", numpy.int64(3)),
        ("random_state", None),
        ("random_state", 2**32 - 1),
        ("compare_words", numpy.bool_(False)),
        ("compare_words", True),
        ("class_weight", "balanced"),
        ("class_weight", {numpy.str_("same"): numpy.int64(2), "other": 1}),
        ("class_weight", {"same": 2.0}),
    ],
)
def test_whatever_fit_accepts_is_saved(encoder, tmp_path, name, value):
    setting = {name: value}
    saved = PairClassifier(encoder).set_params(**setting).fit(PAIRS, LABELS)
    saved.save(tmp_path / "folder")
    loaded = PairClassifier.load(tmp_path / "folder")
    numpy.testing.assert_allclose(loaded.predict_proba(PAIRS), saved.predict_proba(PAIRS))
    assert loaded.get_params()[name] == value
    assert saved.get_params()[name] is value or value is True


def test_copies_predict_the_same(encoder, tmp_path):
    frame = pandas.DataFrame(PAIRS, columns=["a", "b"])
    classifier = PairClassifier(encoder, class_weight="balanced").fit(frame, LABELS)
    expected = classifier.predict_proba(PAIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the sentences for comparing encoders are not the user's
        classifier.save(tmp_path / "folder")
        loaded = PairClassifier.load(tmp_path / "folder")
    copied = copy.deepcopy(classifier)
    unpickled = pickle.loads(pickle.dumps(classifier))
    for other in (copied, unpickled, loaded):
        numpy.testing.assert_allclose(other.predict_proba(frame), expected)
        with pytest.raises(ValueError, match="feature names should match"):
            other.predict(frame[["b", "a"]])


def test_frames_and_series_are_learned(classifier):
    frame = pandas.DataFrame(PAIRS, columns=["first", "second"])
    series = pandas.Series(LABELS, index=range(100, 100 + len(LABELS)))
    fitted = clone(classifier).fit(frame, series)
    found = fitted.predict_proba(frame.to_numpy())
    numpy.testing.assert_array_equal(found, classifier.predict_proba(PAIRS))
    assert fitted.feature_names_in_.tolist() == ["first", "second"]
    assert not hasattr(fitted.fit(PAIRS, LABELS), "feature_names_in_")


def test_a_block_of_pairs_does_not_change_their_predictions(classifier, monkeypatch):
    expected = classifier.predict_proba(PAIRS)
    monkeypatch.setattr(heads, "BLOCK_SIZE", 5)
    numpy.testing.assert_allclose(classifier.predict_proba(PAIRS), expected, rtol=1e-5)


def test_parameters_that_are_set_later_wait_for_the_next_fit(encoder, tmp_path):
    classifier = PairClassifier(encoder).fit(PAIRS, LABELS)
    expected = classifier.predict_proba(PAIRS)
    classifier.set_params(
        matcher="heuristic_difference",
        compare_words=False,
        head=FineTuning(),
    )
    numpy.testing.assert_array_equal(classifier.predict_proba(PAIRS), expected)
    classifier.save(tmp_path / "folder")
    loaded = PairClassifier.load(tmp_path / "folder")
    numpy.testing.assert_allclose(loaded.predict_proba(PAIRS), expected, atol=1e-6)


@pytest.mark.parametrize("kind", [PairClassifier, PairRegressor])
@pytest.mark.parametrize(
    "check",
    [
        "estimator_cloneable",
        "estimator_repr",
        "no_attributes_set_in_init",
        "set_params",
        "parameters_default_constructible",
        "get_params_invariance",
        "mixin_order",
        "estimator_tags_renamed",
        "valid_tag_types",
    ],
)
def test_scikit_learns_checks(kind, check, encoder):
    """Extra dimensions do not fit an estimator of numbers."""
    function = getattr(estimator_checks, f"check_{check}", None)
    if function is None:
        pytest.skip("this scikit-learn has no such check")
    function(kind.__name__, kind(encoder))


def test_scikit_learn_s_cross_validation(encoder):
    accuracies = cross_val_score(PairClassifier(encoder, l2=0.1), PAIRS, LABELS, cv=3)
    assert accuracies.min() > 0.8
    folds = KFold(3, shuffle=True, random_state=0)
    r2_scores = cross_val_score(PairRegressor(encoder, l2=0.1), PAIRS, SCORES, cv=folds)
    assert r2_scores.min() > 0.5


def test_scikit_learn_s_search(encoder):
    classifier = PairClassifier(encoder, compare_words=False, l2=0.1)
    candidates = {"matcher": ["concat", "symmetric"]}
    search = GridSearchCV(classifier, candidates, cv=3).fit(PAIRS, LABELS)
    assert search.best_params_["matcher"] == "symmetric"
    search.fit(PAIRS, LABELS, sample_weight=numpy.arange(36) % 3)


def test_scikit_learn_s_search_of_values_that_are_not_numbers(encoder):
    candidates = {
        "random_state": numpy.arange(2),
        "class_weight": [None, "balanced", {"same": 2}],
    }
    search = GridSearchCV(
        PairClassifier(encoder, l2=0.1),
        candidates,
        cv=2,
        error_score="raise",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(PAIRS, LABELS)


def test_scikit_learn_s_calibration(encoder):
    classifier = PairClassifier(encoder, compare_words=False, l2=0.1)
    calibrated = CalibratedClassifierCV(classifier, cv=3).fit(PAIRS, LABELS)
    assert calibrated.predict_proba(PAIRS).shape == (len(PAIRS), 2)


def test_an_explanation_is_the_fall_of_the_probability(classifier):
    pair = ("a cat sleeps", "a dog sleeps")
    first, second = classifier.explain(pair)
    assert [word for word, _ in first] == ["a", "cat", "sleeps"]
    without_a = ("cat sleeps", "a dog sleeps")
    without_sleeps = ("a cat sleeps", "a dog")
    probabilities = classifier.predict_proba([pair, without_a, without_sleeps])
    label = probabilities[0].argmax()
    whole, rest_of_first, rest_of_second = probabilities[:, label]
    assert first[0] == ("a", pytest.approx(whole - rest_of_first))
    assert second[2] == ("sleeps", pytest.approx(whole - rest_of_second))


def test_an_explanation_is_the_fall_of_the_score(classifier):
    regressor = PairRegressor(classifier.encoder).fit(PAIRS, SCORES)
    pair = ("a cat sleeps", "a cat runs")
    whole, rest = regressor.predict([pair, ("a cat", "a cat runs")])
    first, _ = regressor.explain(pair)
    assert first[-1] == ("sleeps", pytest.approx(whole - rest, abs=1e-5))


def test_a_word_whose_rest_would_be_blank_has_no_weight(classifier):
    first, _ = classifier.explain(("sleeps", "a dog"))
    assert first == [("sleeps", 0.0)]
    first, second = classifier.explain(("cat \u200b", "a \ufeff cat"))
    assert [word for word, _ in first + second] == ["cat", "\u200b", "a", "\ufeff", "cat"]
    assert first[0][1] == 0


@pytest.mark.parametrize("method", ["predict", "fit"])
def test_one_warning_names_the_pairs_of_unknown_texts(classifier, monkeypatch, method):
    monkeypatch.setattr(heads, "BLOCK_SIZE", 2)
    pairs = [*PAIRS[:3], ("xyzzy", "a cat"), ("a cat", "xyzzy"), ("a cat", "!?")]
    estimator = clone(classifier).fit(PAIRS, LABELS)
    arguments = {"predict": [pairs], "fit": [pairs, [1, 2] * 3]}[method]
    with pytest.warns(UserWarning, match="knows no word") as caught:
        getattr(estimator, method)(*arguments)
    assert len(caught) == 1
    names = r"\(the first sentence of pair 3, the second sentence of pair 4"
    assert re.search(names, str(caught[0].message))


BLANK = ("a", " ")


def test_blank_texts_are_refused_by_every_method(classifier):
    regressor = PairRegressor(classifier.encoder, l2=0.1).fit(PAIRS, SCORES)
    pairs = [("a", "b"), BLANK]
    message = "pair 1: the second sentence is blank; .* the other text"
    for method in (classifier.predict, classifier.predict_proba, regressor.predict):
        with pytest.raises(ValueError, match=message):
            method(pairs)
    with pytest.raises(ValueError, match=message):
        classifier.score(pairs, ["same", "same"])
    with pytest.raises(ValueError, match=message):
        clone(classifier).fit(pairs, ["same", "other"])
    with pytest.raises(ValueError, match=message):
        clone(regressor).fit(pairs, [1.0, 2.0])
    with pytest.raises(ValueError, match="pair 0: the second sentence is blank"):
        classifier.explain(BLANK)


def test_a_label_that_is_none_is_refused(classifier):
    labels = [*LABELS[:-1], None]
    for method in (clone(classifier).fit, classifier.score):
        with pytest.raises(TypeError, match=r"the label of pair 35 must be .* not None"):
            method(PAIRS, labels)


def test_a_score_that_is_not_a_number_is_refused(encoder):
    regressor = PairRegressor(encoder, l2=0.1).fit(PAIRS, SCORES)
    scores = [*SCORES[:-1], numpy.nan]
    for method in (clone(regressor).fit, regressor.score):
        with pytest.raises(ValueError, match="the score of pair 35 is nan"):
            method(PAIRS, scores)


def test_a_single_label_is_refused(classifier):
    with pytest.raises(ValueError, match="all pairs have the label 'same'; a classifier needs at"):
        clone(classifier).fit(PAIRS, ["same"] * 36)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"matcher": "elbis"}, r"or with FineTuning\(\) one of elbis, .*; got 'elbis'$"),
        ({"matcher": "symetric"}, "got 'symetric': did you mean 'symmetric'"),
        ({"matcher": "cosin"}, "got 'cosin': did you mean 'cosine'"),
        ({"matcher": None}, "matcher must be one of concat, heuristic.* got None"),
        ({"encoder": 3}, "an encoder must be a path"),
        ({"l2": 0}, "l2 must be a number above 0"),
        ({"l2": "strong"}, "l2 must be a number above 0"),
        ({"l2": True}, "l2 must be a number above 0"),
        ({"l2": 10**400}, "l2 must be a number above 0"),
        ({"l2": float("nan")}, "l2 must be a number above 0, or None; got nan"),
        ({"compare_words": 1}, "compare_words must be true or false, or None; got 1"),
        ({"head": FineTuning}, r"head must be FineTuning\(...\) or None; got <class"),
        ({"random_state": -1}, "random_state must be an integer from 0 to 4294967295, or None"),
        ({"random_state": numpy.random.RandomState(0)}, "random_state must be an integer"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "targets"),
    [
        (PairClassifier, LABELS),
        (PairRegressor, SCORES),
    ],
)
def test_bad_parameters_are_refused(encoder, parameters, message, kind, targets):
    estimator = kind(encoder).set_params(**parameters)
    with pytest.raises((TypeError, ValueError), match=message):
        estimator.fit(PAIRS, targets)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("Balanced", "; got 'Balanced'"),
        (3, "; got 3"),
        ({"same": 0}, "; the weight of 'same' is 0"),
        ({"same": "x"}, "; the weight of 'same' is 'x'"),
        ({"other": 1, "same": 1e10}, "; the weight of 'same' is 10000000000.0"),
        ({"other": numpy.inf, "same": 1}, "; the weight of 'other' is inf"),
        ({"other": numpy.nan, "same": 1}, "; the weight of 'other' is nan"),
        ({"other": None, "same": 1}, "; the weight of 'other' is None"),
        ({b"same": 1}, ": the label of pair 0 must be a string or a number"),
        ({"same": 1, "othr": 2}, " has the label 'othr', which no pair has, and lacks .* 'other'"),
    ],
)
def test_bad_class_weights_are_refused(encoder, weights, message):
    with pytest.raises(ValueError, match=f"class_weight.*{message}"):
        PairClassifier(encoder, class_weight=weights).fit(PAIRS, LABELS)
