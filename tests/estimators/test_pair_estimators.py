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


PARTS = {
    "heuristic": lambda u, v: [u, v, abs(u - v), u * v],
    "heuristic_difference": lambda u, v: [u, v, u - v, u * v],
    "symmetric": lambda u, v: [abs(u - v), u * v],
    "sum_difference": lambda u, v: [u + v, abs(u - v)],
    "concat": lambda u, v: [u, v],
}


def features(encoder, matcher):
    """The features of the pairs, in NumPy."""
    u, v = (encoder.encode([pair[side] for pair in PAIRS]) for side in (0, 1))
    u, v = (x / numpy.sqrt((x**2).sum(1, keepdims=True)) for x in (u, v))
    return numpy.concatenate(PARTS[matcher](u, v), axis=1).astype(float)


def test_cosines_are_of_fewer_dimensions_than_there_are():
    sizes = {1: [], 16: [], 17: [16], 64: [16, 32], 384: [16, 32, 64, 128, 256]}
    assert {size: heads.prefix_sizes(size) for size in sizes} == sizes


def test_the_features_of_the_words_follow_with_a_weaker_penalty():
    encoder = SentenceEncoder(tiny_encoder(20))
    x = features(encoder, "concat")
    u, v = numpy.split(x, 2, axis=1)
    compared = numpy.array([compare_words(*pair) for pair in PAIRS])
    covered = encoder.network.word_coverage(*zip(*PAIRS)).numpy()
    cosines = [1 - paired_cosine_distances(u[:, :size], v[:, :size]) for size in (16, 32, 40)]
    words = numpy.column_stack([*cosines, compared, covered])
    x, words = (StandardScaler().fit_transform(part) for part in (x, words))
    words[:, :2] *= 10
    words[:, 2] *= 30  # the cosine
    words[:, 3:] *= 10
    x = numpy.hstack([x, words])
    expected = Ridge(alpha=0.05 * len(x)).fit(x, SCORES)
    ours = PairRegressor(encoder, matcher="concat", l2=0.05).fit(PAIRS, SCORES)
    bounded = expected.predict(x).clip(1, 3)
    numpy.testing.assert_allclose(ours.predict(PAIRS), bounded, atol=3e-4)


@pytest.mark.parametrize("matcher", PARTS)
def test_a_classifier_is_a_logistic_regression(encoder, matcher):
    """There are two or three labels; the objective is the mean loss + l2 / 2 ||W||^2."""
    x = features(encoder, matcher)
    for labels in (LABELS, [int(score) for score in SCORES]):
        regression = LogisticRegression(C=1 / (0.05 * len(x)), max_iter=9999, tol=1e-9)
        expected = make_pipeline(StandardScaler(), regression).fit(x, labels)
        ours = PairClassifier(encoder, matcher=matcher, compare_words=False, l2=0.05).fit(
            PAIRS, labels
        )
        numpy.testing.assert_array_equal(ours.classes_, expected.classes_)
        probabilities = ours.predict_proba(PAIRS)
        numpy.testing.assert_allclose(probabilities, expected.predict_proba(x), atol=1e-4)
        sure = numpy.diff(numpy.sort(probabilities), axis=1)[:, -1] > 1e-3
        assert (ours.predict(PAIRS) == expected.predict(x))[sure].all()
        assert ours.score(PAIRS, labels) == numpy.mean(ours.predict(PAIRS) == labels)


def test_a_regressor_is_a_ridge_regression(encoder):
    x = features(encoder, "heuristic")
    ridge = make_pipeline(StandardScaler(), Ridge(alpha=0.05 * len(x))).fit(x, SCORES)
    ours = PairRegressor(encoder, compare_words=False, l2=0.05).fit(PAIRS, SCORES)
    bounded = ridge.predict(x).clip(1, 3)
    numpy.testing.assert_allclose(ours.predict(PAIRS), bounded, atol=3e-4)
    assert ours.score(PAIRS, SCORES) == pytest.approx(r2_score(SCORES, bounded), abs=1e-3)


def test_without_a_penalty_the_best_one_is_chosen(encoder, monkeypatch):
    """One of the penalties is much too strong here, and the other one is right."""
    right = PairClassifier(encoder, l2=0.01).fit(PAIRS, LABELS).predict_proba(PAIRS)
    scores = PairRegressor(encoder, l2=0.01).fit(PAIRS, SCORES).predict(PAIRS)
    monkeypatch.setattr(linear, "L2_PENALTIES", (1e6, 0.01))
    for one_fold in (1000, 10):
        monkeypatch.setattr(linear, "ONE_FOLD", one_fold)
        chosen = PairClassifier(encoder).fit(PAIRS, LABELS)
        numpy.testing.assert_allclose(chosen.predict_proba(PAIRS), right, rtol=1e-3)
        chosen = PairRegressor(encoder).fit(PAIRS, SCORES)
        numpy.testing.assert_allclose(chosen.predict(PAIRS), scores)
        assert chosen.l2_ == 0.01


def test_a_pair_of_each_label_is_enough(encoder):
    pairs = [PAIRS[0], PAIRS[1]]
    labels = [True, False]
    classifier = PairClassifier(encoder).fit(pairs, labels)
    assert classifier.predict(pairs).tolist() == labels
    assert PairRegressor(encoder).fit(PAIRS[:1], [3]).predict(PAIRS[:1]) == pytest.approx([3])


STARTS = ("not a", "two a", "no dog")
ENDS = ("cat", "man sees", "3 dogs run a")
OTHERS = [*product([f"{start} {end}" for start in STARTS for end in ENDS], repeat=2)]


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
        (a, b), (c, d) = (estimator.explain(pair) for pair in (OTHERS[2], OTHERS[2][::-1]))
        for (word, weight), (other, expected) in zip(a + b, d + c):
            assert (word, weight) == (other, pytest.approx(expected, abs=1e-6))


FAILURES = [
    ({"matcher": "heuristc"}, LABELS[::-1]),
    ({}, ["x"] * 36),
    ({"l2": -1}, [str(score) for score in SCORES]),
    ({}, [score / 10 for score in SCORES]),
    ({"head": FineTuning(batch_size=0)}, LABELS[::-1]),
    ({"head": FineTuning(validation_fraction=0.99)}, LABELS[::-1]),
    ({"encoder": 3}, LABELS[::-1]),
    ({"class_weight": {"x": 1, "y": 2}}, LABELS[::-1]),
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
    unfitted = PairClassifier(**({"encoder": encoder} | parameters))
    with pytest.raises((ValueError, TypeError)):
        unfitted.fit(PAIRS, labels)
    with pytest.raises(ValueError, match="not fitted yet"):
        unfitted.predict(PAIRS)


def test_a_subclass_may_have_other_parameters(encoder, classifier):
    class Fewer(PairClassifier):
        def __init__(self, encoder=None, more=1):
            super().__init__(encoder, l2=0.1)
            self.more = more

    fitted = Fewer(encoder, more=2).fit(PAIRS, LABELS)
    assert fitted.more == 2
    assert fitted.predict(PAIRS).tolist() == classifier.predict(PAIRS).tolist()


def test_weights_are_repetitions(encoder):
    counts = numpy.random.default_rng(0).integers(0, 4, len(PAIRS))
    repeated = [i for i, count in enumerate(counts) for _ in range(count)]
    for kind, targets, parameters in (
        (PairClassifier, LABELS, {}),
        (PairClassifier, [int(score) for score in SCORES], {"class_weight": "balanced"}),
        (PairClassifier, LABELS, {"class_weight": {"same": numpy.float32(5), "other": 0.5}}),
        (PairRegressor, SCORES, {}),
    ):
        fit = kind(encoder, l2=1, **parameters).fit
        every = [PAIRS[i] for i in repeated], [targets[i] for i in repeated]
        expected = copy.deepcopy(fit(*every))
        outputs = expected._outputs(PAIRS)
        for scale in (1, 1e-3):
            weighted = fit(PAIRS, targets, sample_weight=counts * scale)
            numpy.testing.assert_allclose(weighted._outputs(PAIRS), outputs, atol=5e-4)
        score = weighted.score(PAIRS, targets, counts)
        assert score == pytest.approx(expected.score(*every), abs=1e-4)
        assert abs(fit(PAIRS, targets)._outputs(PAIRS) - outputs).max() > 0.005


def test_class_weights_are_scikit_learns(encoder):
    x = features(encoder, "concat")
    labels = [int(score) for score in SCORES]
    for weights in ("balanced", {1: 3.0, 2: 0.5}, {3: 2}):
        each = compute_sample_weight(weights, labels)
        settings = {"C": 1 / (0.05 * each.sum()), "max_iter": 9999, "tol": 1e-10}
        regression = LogisticRegression(**settings, class_weight=weights)
        scaled = StandardScaler().fit(x, sample_weight=each).transform(x)
        expected = regression.fit(scaled, labels).predict_proba(scaled)
        ours = PairClassifier(
            encoder, matcher="concat", compare_words=False, l2=0.05, class_weight=weights
        )
        found = ours.fit(PAIRS, labels).predict_proba(PAIRS)
        numpy.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 35, r"expected 36 numbers as sample_weight; got \(35,\)"),
        ([1.0] * 35 + [-1], "the one of pair 35 is -1.0"),
        ([1.0, numpy.nan] * 18, "the one of pair 1 is nan"),
        ([0] * 36, "all pairs have the sample_weight 0; give some of them"),
        (["x"] * 36, "sample_weight: could not convert string to float"),
        ([1e308] * 36, "numbers from 1e-9 to 1e9"),
    ],
)
def test_bad_weights_are_refused(encoder, weights, message):
    for kind, targets in ((PairClassifier, LABELS), (PairRegressor, SCORES)):
        with pytest.raises(ValueError, match=message):
            kind(encoder).fit(PAIRS, targets, sample_weight=weights)
    fine = PairClassifier(encoder, head=FineTuning())
    with pytest.raises(ValueError, match="fine-tuning takes no sample_weight"):
        fine.fit(PAIRS, LABELS, weights)


@pytest.mark.parametrize("labels", [LABELS, [int(score) for score in SCORES]])
def test_logarithms_and_decisions_are_those_of_the_probabilities(encoder, labels):
    classifier = PairClassifier(encoder, l2=0.1).fit(PAIRS, labels)
    probabilities = classifier.predict_proba(PAIRS)
    found = classifier.predict_log_proba(PAIRS)
    numpy.testing.assert_allclose(found, numpy.log(probabilities), atol=1e-9)
    decisions = classifier.decision_function(PAIRS)
    if len(set(labels)) == 2:
        numpy.testing.assert_allclose(expit(decisions), probabilities[:, 1], atol=1e-9)
        assert (classifier.classes_[(decisions > 0).astype(int)] == classifier.predict(PAIRS)).all()
    else:
        numpy.testing.assert_allclose(softmax(decisions, axis=1), probabilities, atol=1e-9)


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


@pytest.mark.parametrize("l2", [0.1, None])
def test_scores_of_any_size_are_learned(encoder, l2):
    expected = PairRegressor(encoder, l2=l2).fit(PAIRS, SCORES).predict(PAIRS)
    for scale in (1e-300, 1e300):
        regressor = PairRegressor(encoder, l2=l2).fit(PAIRS, [scale * score for score in SCORES])
        numpy.testing.assert_allclose(regressor.predict(PAIRS) / scale, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="too large"):
        PairRegressor(encoder).fit(PAIRS, [1e308, -1e308] * 18)


@pytest.mark.parametrize(
    ("labels", "position"),
    [([0.0, 0.5, 1.0] * 12, 1), ([1, 2] * 17 + [2.5, 3], 34), ([3.5] * 36, 0)],
)
def test_scores_are_no_labels(encoder, labels, position):
    """scikit-learn's type_of_target calls them continuous."""
    message = f"the label of pair {position} is .*: continuous .* scores, which PairRegressor"
    with pytest.raises(ValueError, match=message):
        PairClassifier(encoder).fit(PAIRS, labels)
    whole = PairClassifier(encoder, l2=1).fit(PAIRS, [1.0, 2.0] * 18)
    assert whole.classes_.tolist() == [1, 2]


def test_predicted_scores_stay_within_the_scores_of_fit(encoder, tmp_path):
    """With few pairs, lines leave the range; the order of the scores does not change."""
    cosines = encoder.similarity(*zip(*OTHERS)).astype(float)
    low, high = numpy.quantile(cosines, [0.3, 0.7])
    known = [i for i, cosine in enumerate(cosines) if low <= cosine <= high]
    regressor = PairRegressor(encoder, matcher="cosine").fit(
        [OTHERS[i] for i in known], cosines[known]
    )
    order = numpy.argsort(cosines)
    predicted = regressor.predict([OTHERS[i] for i in order])
    assert cosines[known].min() <= predicted.min() < predicted.max() <= cosines[known].max()
    assert (numpy.diff(predicted)[numpy.diff(cosines[order]) > 1e-6] > 0).all()
    expected = cosines[order].clip(cosines[known].min(), cosines[known].max())
    numpy.testing.assert_allclose(predicted, expected, atol=1e-2)
    regressor.save(tmp_path / "folder")
    loaded = PairRegressor.load(tmp_path / "folder")
    numpy.testing.assert_allclose(loaded.predict(OTHERS), regressor.predict(OTHERS))


@pytest.mark.parametrize("ends", [(0, 5), (-1.7e308, 1.7e308), (1e-300, 3e-300), (2, 2)])
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


PLAIN = {
    "l2": [numpy.float32(0.1), numpy.int64(1), fractions.Fraction(1, 4), None, 1],
    "random_state": [numpy.int64(3), None, 2**32 - 1],
    "compare_words": [numpy.bool_(False), True],
    "class_weight": ["balanced", {numpy.str_("same"): numpy.int64(2), "other": 1}, {"same": 2.0}],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in PLAIN.items() for value in values]
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
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the sentences for comparing encoders are not the user's
        classifier.save(tmp_path / "folder")
        loaded = PairClassifier.load(tmp_path / "folder")
    for other in (copy.deepcopy(classifier), pickle.loads(pickle.dumps(classifier)), loaded):
        numpy.testing.assert_allclose(other.predict_proba(frame), classifier.predict_proba(PAIRS))
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
    classifier.set_params(matcher="heuristic_difference", compare_words=False, head=FineTuning())
    numpy.testing.assert_array_equal(classifier.predict_proba(PAIRS), expected)
    classifier.save(tmp_path / "folder")
    loaded = PairClassifier.load(tmp_path / "folder")
    numpy.testing.assert_allclose(loaded.predict_proba(PAIRS), expected, atol=1e-6)


def test_scikit_learns_tools_take_the_estimators(encoder):
    classifier = PairClassifier(encoder, l2=0.1)
    regressor = PairRegressor(encoder, l2=0.1)
    assert cross_val_score(classifier, PAIRS, LABELS, cv=3).min() > 0.8
    folds = KFold(3, shuffle=True, random_state=0)
    assert cross_val_score(regressor, PAIRS, SCORES, cv=folds).min() > 0.5
    classifier.set_params(compare_words=False)
    grid = GridSearchCV(classifier, {"matcher": ["concat", "symmetric"]}, cv=3)
    assert grid.fit(PAIRS, LABELS).best_params_["matcher"] == "symmetric"
    grid.fit(PAIRS, LABELS, sample_weight=numpy.arange(36) % 3)
    seeds = {"random_state": numpy.arange(2), "class_weight": [None, "balanced", {"same": 2}]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchCV(PairClassifier(encoder, l2=0.1), seeds, cv=2, error_score="raise")
        search.fit(PAIRS, LABELS)
    calibrated = CalibratedClassifierCV(classifier, cv=3).fit(PAIRS, LABELS)
    assert calibrated.predict_proba(PAIRS).shape == (len(PAIRS), 2)


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


def test_an_explanation_is_the_fall_of_the_probability_or_score(classifier):
    pair = ("a cat sleeps", "a dog sleeps")
    first, second = classifier.explain(pair)
    assert [word for word, _ in first] == ["a", "cat", "sleeps"]
    label = classifier.predict_proba([pair])[0].argmax()
    variants = [pair, ("cat sleeps", pair[1]), (pair[0], "a dog")]
    probabilities = classifier.predict_proba(variants)[:, label]
    assert first[0][1] == pytest.approx(probabilities[0] - probabilities[1])
    assert second[2][1] == pytest.approx(probabilities[0] - probabilities[2])
    assert classifier.explain(("sleeps", "a dog"))[0] == [("sleeps", 0.0)]
    first, second = classifier.explain(("cat \u200b", "a \ufeff cat"))
    assert [word for word, _ in first + second] == ["cat", "\u200b", "a", "\ufeff", "cat"]
    assert first[0][1] == 0  # the remaining sentence would be blank
    regressor = PairRegressor(classifier.encoder).fit(PAIRS, SCORES)
    scores = regressor.predict([("a cat sleeps", "a cat runs"), ("a cat", "a cat runs")])
    (*_, weight), _ = regressor.explain(("a cat sleeps", "a cat runs"))
    assert weight == ("sleeps", pytest.approx(scores[0] - scores[1], abs=1e-5))


def test_one_warning_names_the_pairs_of_unknown_texts(classifier, monkeypatch):
    monkeypatch.setattr(heads, "BLOCK_SIZE", 2)
    pairs = [*PAIRS[:3], ("xyzzy", "a cat"), ("a cat", "xyzzy"), ("a cat", "!?")]
    for call in (classifier.predict, lambda pairs: clone(classifier).fit(pairs, [1, 2] * 3)):
        with pytest.warns(UserWarning, match="knows no word") as caught:
            call(pairs)
        assert len(caught) == 1
        names = r"\(the first sentence of pair 3, the second sentence of pair 4"
        assert re.search(names, str(caught[0].message))


def test_bad_pairs_and_targets_are_refused_by_every_method(classifier):
    regressor = PairRegressor(classifier.encoder, l2=0.1).fit(PAIRS, SCORES)
    for call in (
        classifier.predict,
        classifier.predict_proba,
        regressor.predict,
        lambda pairs: classifier.explain(pairs[1]),
        lambda pairs: classifier.score(pairs, ["same"] * 2),
        lambda pairs: clone(classifier).fit(pairs, ["same", "other"]),
        lambda pairs: clone(regressor).fit(pairs, [1.0, 2.0]),
    ):
        with pytest.raises(
            ValueError, match=r"pair [01]: the second sentence is blank; .* both texts"
        ):
            call([("a", "b"), ("a", " ")])
    for estimator, targets, message in (
        (classifier, [*LABELS[:-1], None], "the label of pair 35 must be .* not None"),
        (regressor, [*SCORES[:-1], numpy.nan], "the score of pair 35 is nan"),
    ):
        for call in (clone(estimator).fit, estimator.score):
            with pytest.raises((TypeError, ValueError), match=message):
                call(PAIRS, targets)
    with pytest.raises(ValueError, match="all pairs have the label 'same'; a classifier needs at"):
        clone(classifier).fit(PAIRS, ["same"] * 36)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"matcher": "elbis"}, r"or with FineTuning\(\) one of elbis, .*; got 'elbis'"),
        ({"matcher": "symetric"}, "got 'symetric': did you mean 'symmetric'"),
        ({"matcher": "cosin"}, "got 'cosin': did you mean 'cosine'"),
        ({"matcher": None}, "matcher must be one of concat, heuristic.* got None"),
        ({"encoder": 3}, "an encoder must be a path"),
        *(({"l2": one}, "l2 must be a number above 0") for one in (0, "strong", True, 10**400)),
        ({"l2": float("nan")}, "l2 must be a number above 0, or None; got nan"),
        ({"compare_words": 1}, "compare_words must be true or false, or None; got 1"),
        ({"head": FineTuning}, r"head must be FineTuning\(...\) or None; got <class"),
        ({"random_state": -1}, "random_state must be an integer from 0 to 4294967295, or None"),
        ({"random_state": numpy.random.RandomState(0)}, "random_state must be an integer"),
    ],
)
def test_bad_parameters_are_refused(encoder, parameters, message):
    for kind, targets in ((PairClassifier, LABELS), (PairRegressor, SCORES)):
        with pytest.raises((TypeError, ValueError), match=message):
            kind(encoder).set_params(**parameters).fit(PAIRS, targets)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("Balanced", "; got 'Balanced'"),
        (3, "; got 3"),
        ({"same": 0}, "; the one of 'same' is 0"),
        ({"same": "x"}, "; the one of 'same' is 'x'"),
        ({"other": 1, "same": 1e10}, "; the one of 'same' is 10000000000.0"),
        ({"other": numpy.inf, "same": 1}, "; the one of 'other' is inf"),
        ({"other": numpy.nan, "same": 1}, "; the one of 'other' is nan"),
        ({"other": None, "same": 1}, "; the one of 'other' is None"),
        ({b"same": 1}, ": the label of pair 0 must be a string or a number"),
    ],
)
def test_bad_class_weights_are_refused(encoder, weights, message):
    with pytest.raises(ValueError, match=f"class_weight.*{message}"):
        PairClassifier(encoder, class_weight=weights).fit(PAIRS, LABELS)
