import re
import warnings

import numpy
import pandas
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allennlp_sentmatch import PairClassifier, PairRegressor, SentenceEncoder
from allennlp_sentmatch.estimators import linear, pair_estimators
from allennlp_sentmatch.estimators.word_comparison import compare_words
from tests.estimators.test_sentence_encoder import BAD_SENTENCES
from tests.estimators.tiny_encoder import LABELS, PAIRS, SCORES, tiny_encoder


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder(tiny_encoder())


@pytest.fixture(scope="module")
def classifier(encoder):
    return PairClassifier(encoder).fit(PAIRS, LABELS)


def features(encoder, matcher):
    """The features of the pairs, in NumPy."""
    u, v = (encoder.encode([pair[side] for pair in PAIRS]) for side in (0, 1))
    u, v = (x / numpy.sqrt((x**2).sum(1, keepdims=True)) for x in (u, v))
    parts = {
        "heuristic": [u, v, abs(u - v), u * v],
        "heuristic_difference": [u, v, u - v, u * v],
        "symmetric": [abs(u - v), u * v],
        "sum_difference": [u + v, abs(u - v)],
        "concat": [u, v],
    }
    return numpy.concatenate(parts[matcher], axis=1)


def test_the_features_of_the_words_follow_with_a_weaker_penalty(encoder):
    x = features(encoder, "concat")
    u, v = numpy.split(x, 2, axis=1)
    compared = numpy.array([compare_words(*pair) for pair in PAIRS])
    words = numpy.hstack([(u * v).sum(axis=1, keepdims=True), compared])
    x = numpy.hstack(
        [StandardScaler().fit_transform(x), 10 * StandardScaler().fit_transform(words)]
    )
    expected = Ridge(alpha=0.05 * len(x)).fit(x, SCORES)
    ours = PairRegressor(encoder, "concat", l2=0.05).fit(PAIRS, SCORES)
    numpy.testing.assert_allclose(ours.predict(PAIRS), expected.predict(x), atol=1e-4)


@pytest.mark.parametrize(
    "matcher", ["heuristic", "heuristic_difference", "symmetric", "sum_difference", "concat"]
)
def test_a_classifier_is_a_logistic_regression(encoder, matcher):
    """With three labels and with two; the loss is the mean loss + l2 / 2 ||W||^2."""
    x = features(encoder, matcher)
    for labels in (LABELS, [int(score) for score in SCORES]):
        regression = LogisticRegression(C=1 / (0.05 * len(x)), max_iter=9999, tol=1e-9)
        expected = make_pipeline(StandardScaler(), regression).fit(x, labels)
        ours = PairClassifier(encoder, matcher, False, l2=0.05).fit(PAIRS, labels)
        numpy.testing.assert_array_equal(ours.classes_, expected.classes_)
        probabilities = ours.predict_proba(PAIRS)
        numpy.testing.assert_allclose(probabilities, expected.predict_proba(x), atol=1e-4)
        assert ours.predict(PAIRS).tolist() == expected.predict(x).tolist()
        assert ours.score(PAIRS, labels) == expected.score(x, labels)


def test_a_regressor_is_a_ridge_regression(encoder):
    x = features(encoder, "heuristic")
    ridge = make_pipeline(StandardScaler(), Ridge(alpha=0.05 * len(x))).fit(x, SCORES)
    ours = PairRegressor(encoder, compare_words=False, l2=0.05).fit(PAIRS, SCORES)
    numpy.testing.assert_allclose(ours.predict(PAIRS), ridge.predict(x), atol=1e-4)
    assert ours.score(PAIRS, SCORES) == pytest.approx(ridge.score(x, SCORES), abs=1e-4)


def test_without_a_penalty_the_best_one_is_chosen(encoder, monkeypatch):
    """Here one of them is much too strong, and the other one right."""
    monkeypatch.setattr(linear, "L2_PENALTIES", (1e6, 0.01))
    chosen = PairClassifier(encoder).fit(PAIRS, LABELS)
    expected = PairClassifier(encoder, l2=0.01).fit(PAIRS, LABELS)
    numpy.testing.assert_allclose(chosen.predict_proba(PAIRS), expected.predict_proba(PAIRS))
    monkeypatch.setattr(linear, "ONE_FOLD", 10)
    chosen = PairRegressor(encoder).fit(PAIRS, SCORES)
    expected = PairRegressor(encoder, l2=0.01).fit(PAIRS, SCORES)
    numpy.testing.assert_allclose(chosen.predict(PAIRS), expected.predict(PAIRS))


def test_a_pair_of_each_label_is_enough(encoder):
    pairs, labels = [PAIRS[0], PAIRS[1]], [True, False]
    classifier = PairClassifier(encoder).fit(pairs, labels)
    assert classifier.predict(pairs).tolist() == labels
    assert PairRegressor(encoder).fit(PAIRS[:1], [3]).predict(PAIRS[:1]) == pytest.approx([3])


def test_every_form_of_pairs_gives_the_same(classifier):
    expected = classifier.predict_proba(PAIRS)
    frame = pandas.DataFrame(PAIRS, columns=["first", "second"])
    for pairs in (
        frame,
        frame.to_numpy(),
        numpy.array(PAIRS),
        [list(p) for p in PAIRS],
        iter(PAIRS),
    ):
        numpy.testing.assert_array_equal(classifier.predict_proba(pairs), expected)
    series = pandas.Series(LABELS, index=range(100, 100 + len(LABELS)))
    fitted = clone(classifier).fit(frame, series)
    numpy.testing.assert_array_equal(fitted.predict_proba(PAIRS), expected)


def test_a_block_of_pairs_does_not_change_their_predictions(classifier, monkeypatch):
    expected = classifier.predict_proba(PAIRS)
    monkeypatch.setattr(pair_estimators, "BLOCK_SIZE", 5)
    numpy.testing.assert_allclose(classifier.predict_proba(PAIRS), expected, rtol=1e-5)


def test_parameters_that_are_set_later_wait_for_the_next_fit(encoder, tmp_path):
    classifier = PairClassifier(encoder).fit(PAIRS, LABELS)
    expected = classifier.predict_proba(PAIRS)
    classifier.set_params(matcher="heuristic_difference", compare_words=False, fine_tune=True)
    numpy.testing.assert_array_equal(classifier.predict_proba(PAIRS), expected)
    classifier.save(tmp_path / "folder")
    loaded = PairClassifier.load(tmp_path / "folder")
    numpy.testing.assert_allclose(loaded.predict_proba(PAIRS), expected, atol=1e-6)


def test_scikit_learns_tools_take_the_estimators(encoder):
    classifier, regressor = PairClassifier(encoder), PairRegressor(encoder)
    assert cross_val_score(classifier, PAIRS, LABELS, cv=3).min() > 0.8
    folds = KFold(3, shuffle=True, random_state=0)
    assert cross_val_score(regressor, PAIRS, SCORES, cv=folds).min() > 0.5
    classifier.set_params(compare_words=False)
    grid = GridSearchCV(classifier, {"matcher": ["concat", "symmetric"], "l2": [0.1, 0.01]}, cv=3)
    assert grid.fit(PAIRS, LABELS).best_params_["matcher"] == "symmetric"
    calibrated = CalibratedClassifierCV(classifier, cv=3).fit(PAIRS, LABELS)
    assert calibrated.predict_proba(PAIRS).shape == (len(PAIRS), 2)


CHECKS = (
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
)
"""scikit-learn's checks of estimators that do not fit them to numbers."""


@pytest.mark.parametrize("kind", [PairClassifier, PairRegressor])
@pytest.mark.parametrize("check", CHECKS)
def test_scikit_learns_checks(kind, check, encoder):
    from sklearn.utils import estimator_checks

    function = getattr(estimator_checks, check, None)
    if function is None:
        pytest.skip(f"this scikit-learn has no {check}")
    function(kind.__name__, kind(encoder))


def test_an_explanation_is_the_fall_of_the_probability(classifier):
    pair = ("a cat sleeps", "a dog sleeps")
    first, second = classifier.explain(pair)
    assert [word for word, _ in first] == ["a", "cat", "sleeps"]
    label = classifier.predict_proba([pair])[0].argmax()
    variants = [pair, ("cat sleeps", pair[1]), (pair[0], "a dog")]
    probabilities = classifier.predict_proba(variants)[:, label]
    assert first[0][1] == pytest.approx(probabilities[0] - probabilities[1])
    assert second[2][1] == pytest.approx(probabilities[0] - probabilities[2])
    assert classifier.explain(("sleeps", "a dog"))[0] == [("sleeps", 0.0)]


def test_words_of_invisible_characters_are_explained(classifier):
    first, second = classifier.explain(("cat \u200b", "a \ufeff cat"))
    assert [word for word, _ in first + second] == ["cat", "\u200b", "a", "\ufeff", "cat"]
    assert first[0][1] == 0  # the rest would be blank


def test_one_warning_names_the_pairs_of_unknown_texts(classifier, monkeypatch):
    monkeypatch.setattr(pair_estimators, "BLOCK_SIZE", 2)
    pairs = [*PAIRS[:3], ("xyzzy", "a cat"), ("a cat", "xyzzy"), ("a cat", "!?")]
    for call in (classifier.predict, lambda pairs: clone(classifier).fit(pairs, [1, 2] * 3)):
        with pytest.warns(UserWarning, match="knows no word") as caught:
            call(pairs)
        assert len(caught) == 1
        names = r"\(the first sentence of pair 3, the second sentence of pair 4"
        assert re.search(names, str(caught[0].message))


def test_saving_warns_of_nothing(encoder, tmp_path):
    """The sentences that show which encoder it is are not the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PairClassifier(encoder, l2=0.1).fit(PAIRS, LABELS).save(tmp_path / "folder")
        PairClassifier.load(tmp_path / "folder")


def test_an_explanation_of_a_score(encoder):
    regressor = PairRegressor(encoder).fit(PAIRS, SCORES)
    scores = regressor.predict([("a cat sleeps", "a cat runs"), ("a cat", "a cat runs")])
    (*_, weight), _ = regressor.explain(("a cat sleeps", "a cat runs"))
    assert weight == ("sleeps", pytest.approx(scores[0] - scores[1], abs=1e-5))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (None, "pairs must be a list of pairs of strings.*not NoneType"),
        (b"ab", "pairs must be a list of pairs of strings.*not bytes"),
        ("ab", "pairs must be .* not str"),
        ({"a": "b"}, "pairs must be .* not dict"),
        ([], "there are 0 pairs"),
        (["ab"], "pair 0 must be two sentences, not str"),
        ([("a", "b"), ("a",)], "pair 1 must be two sentences, not a tuple of 1"),
        ([("a", "b", "c")], "pair 0 must be two sentences, not a tuple of 3"),
        ([("a", "b"), None], "pair 1 must be two sentences, not NoneType"),
        (pandas.DataFrame({"a": ["x"]}), "pair 0 must be two sentences, not a ndarray of 1"),
        (pandas.Series(["x"]), "pair 0 must be two sentences, not str"),
        (numpy.zeros((2, 2)), "pair 0: the first sentence must be a string, not float"),
        *(
            ([("a", "b"), ("a", texts[-1])], f"pair 1: the second sentence {message[11:]}")
            for texts, message in BAD_SENTENCES
            if isinstance(texts, list)
        ),
        (pandas.DataFrame({"a": ["x"], "b": [None]}), "pair 0: the second sentence must be"),
    ],
)
def test_bad_pairs_are_refused(classifier, pairs, message):
    for call in (
        classifier.predict,
        classifier.predict_proba,
        lambda pairs: clone(classifier).fit(pairs, ["x"]),
        lambda pairs: PairRegressor(classifier.encoder).fit(pairs, [1.0]),
    ):
        with pytest.raises((TypeError, ValueError), match=message) as error:
            call(pairs)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "targets", "message"),
    [
        (PairClassifier, LABELS[:-1], "there are 36 pairs and 35 labels"),
        (PairClassifier, None, "expected a list of labels, not NoneType"),
        (PairClassifier, "same", "expected a list of labels, not str"),
        (
            PairClassifier,
            ["same"] * 36,
            "all pairs have the label 'same'; a classifier needs at least two",
        ),
        (PairClassifier, [*LABELS[:-1], None], "the label of pair 35 must be .* not None"),
        (PairClassifier, [*LABELS[:-1], 1], "some labels are strings and others are numbers"),
        (PairClassifier, [*range(35), numpy.nan], "the label of pair 35 is nan; leave the pair"),
        (
            PairClassifier,
            [b"x"] * 36,
            "the label of pair 0 must be a string or a number, not bytes",
        ),
        (PairRegressor, None, "expected a list of scores, not NoneType"),
        (PairRegressor, [*SCORES[:-1], None], "the score of pair 35 must be a number, not None"),
        (PairRegressor, [*SCORES[:-1], numpy.nan], "the score of pair 35 is nan; leave the pair"),
        (PairRegressor, [*SCORES[:-1], numpy.inf], "the score of pair 35 is inf"),
        (PairRegressor, LABELS, "the score of pair 0 must be a number, not str"),
        (PairRegressor, SCORES * 2, "there are 36 pairs and 72 scores"),
    ],
)
def test_bad_targets_are_refused(encoder, kind, targets, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        kind(encoder).fit(PAIRS, targets)
    assert "\n" not in str(error.value)
    if "all pairs" not in message:
        fitted = kind(encoder, l2=0.1).fit(PAIRS, LABELS if kind is PairClassifier else SCORES)
        with pytest.raises((TypeError, ValueError), match=message):
            fitted.score(PAIRS, targets)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"matcher": "elbis"}, "or elbis, .* with fine_tune=True; got 'elbis'"),
        ({"matcher": None}, "matcher must be one of concat, heuristic.* got None"),
        ({"encoder": 3}, "an encoder must be a path"),
        ({"l2": 0}, "l2 must be a number above 0, or None; got 0"),
        ({"l2": "strong"}, "l2 must be a number above 0, or None; got 'strong'"),
        ({"l2": float("nan")}, "l2 must be a number above 0"),
    ],
)
def test_bad_parameters_are_refused(encoder, parameters, message):
    for kind, targets in ((PairClassifier, LABELS), (PairRegressor, SCORES)):
        with pytest.raises((TypeError, ValueError), match=message):
            kind(encoder).set_params(**parameters).fit(PAIRS, targets)


def test_an_unfitted_estimator_says_so(encoder):
    with pytest.raises(ValueError, match="not fitted yet"):
        PairClassifier(encoder).predict(PAIRS)
