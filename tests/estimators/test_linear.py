"""The minimum of linear models, against scikit-learn's, and the choice of the penalty."""

import numpy
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from allennlp_sentmatch import PairClassifier
from allennlp_sentmatch.estimators import heads, linear, minimum
from tests.estimators.tiny_encoder import Numbers


def numbered(count):
    """Return pairs whose labels four of 16 products decide, with noise."""
    first = [f"a {2 * i}" for i in range(count)]
    second = [f"b {2 * i + 1}" for i in range(count)]
    products = Numbers().encode(first) * Numbers().encode(second)
    noise = numpy.random.default_rng(1).standard_normal(count) / 2
    is_yes = products[:, :4].sum(axis=1) + noise > 0
    labels = numpy.where(is_yes, "yes", "no")
    return list(zip(first, second)), labels.tolist()


@pytest.mark.parametrize(
    ("count", "num_rare_labels", "num_pairs_each", "margin"),
    [
        (400, 1, 1, 0.02),
        (400, 24, 3, 0.04),
        (200, 1, 1, 0.02),
        (200, 4, 2, 0.04),
    ],
)
def test_rare_labels_do_not_change_the_choice_of_the_penalty(
    count, num_rare_labels, num_pairs_each, margin, recwarn, monkeypatch
):
    """One fold chooses for 400 pairs, and five folds for 200."""
    monkeypatch.setattr(linear, "ONE_FOLD", 300)
    pairs, labels = numbered(count + 200)
    tested = pairs[count:]
    labels_of_tested = labels[count:]
    rare_labels = [f"rare {i}" for i in range(num_rare_labels)]
    rare = numpy.repeat(rare_labels, num_pairs_each).tolist()
    others = slice(len(rare), count)
    model = PairClassifier(Numbers(), compare_words=False)
    without_rare = clone(model).fit(pairs[others], labels[others])
    expected = without_rare.score(tested, labels_of_tested)
    with_rare = model.fit(pairs[:count], rare + labels[others])
    assert with_rare.score(tested, labels_of_tested) >= expected - margin
    assert set(rare) < set(with_rare.classes_)
    assert not recwarn.list


@pytest.mark.parametrize("compare_words", [False, True])
def test_what_varies_by_rounding_alone_is_not_learned(compare_words):
    pairs = [(f"a {i}", f"a {i}") for i in range(40)]
    model = PairClassifier(Numbers(), matcher="cosine", compare_words=compare_words, l2=0.1)
    model.fit(pairs, ["no", "no", "no", "yes"] * 10)
    found = model.predict_proba([("a 1", "a 2")])
    numpy.testing.assert_allclose(found, [[0.75, 0.25]], atol=0.01)


COSINE = 64
"""The place of the cosine: the features of four vectors of 16 numbers come before it."""


def linear_features(classifier, pairs):
    """Return the features of the classifier's linear model, (number of pairs, features)."""
    first = [pair[0] for pair in pairs]
    second = [pair[1] for pair in pairs]
    inputs = heads.pair_inputs(classifier.encoder_, "ordered", first, second)
    return classifier.head_.features(*inputs).astype(float)


@pytest.mark.parametrize(
    ("count", "l2", "num_labels"),
    [
        (60, 1, 2),
        (60, 0.001, 3),
        (300, 0.01, 3),
        (300, 0.001, 2),
    ],
)
def test_the_minimum_is_reached(count, l2, num_labels):
    """The order of the pairs does not matter. The reference needs thousands of steps."""
    pairs, labels = numbered(count + 100)
    if num_labels == 3:
        labels[2::3] = ["maybe"] * len(labels[2::3])
    learned = pairs[:count]
    tested = pairs[count:]
    classifier = PairClassifier(Numbers(), l2=l2).fit(learned, labels[:count])
    x = linear_features(classifier, learned)
    scaler = StandardScaler().fit(x)
    scales = numpy.full(x.shape[1], 10)
    scales[:COSINE] = 1
    scales[COSINE] = 30
    reference = LogisticRegression(C=1 / (l2 * count), max_iter=99999, tol=1e-10)
    reference.fit(scaler.transform(x) * scales, labels[:count])
    x_of_tested = scaler.transform(linear_features(classifier, tested))
    expected = reference.predict_proba(x_of_tested * scales)
    numpy.testing.assert_allclose(classifier.predict_proba(tested), expected, atol=1e-4)
    classifier.fit(learned[::-1], labels[:count][::-1])
    numpy.testing.assert_allclose(classifier.predict_proba(tested), expected, atol=1e-4)


def fit_linear(x, targets, weights=None, scales=None, strongest=None, l2=None):
    """Fit a linear model to examples of which no two belong together, with seed 0."""
    if weights is None:
        weights = numpy.ones(len(x))
    if scales is None:
        scales = numpy.ones(x.shape[1])
    groups = numpy.arange(len(x))
    return linear.fit_linear(x, targets, weights, groups, scales, strongest, l2, 0)


@pytest.mark.parametrize("num_labels", [2, 3])
def test_the_penalty_has_the_lowest_loss_of_examples_held_out(num_labels, monkeypatch):
    """Compare with scikit-learn's folds and losses. The candidates are close to each other."""
    penalties = numpy.geomspace(10, 0.001, 9).tolist()
    monkeypatch.setattr(linear, "L2_PENALTIES", penalties)
    generator = numpy.random.default_rng(2)
    targets = numpy.repeat(numpy.arange(num_labels), 20)
    centers = generator.standard_normal((num_labels, 10)) / 2
    noise = generator.standard_normal((len(targets), 10))
    x = StandardScaler().fit_transform(centers[targets] + noise)
    losses = {}
    probabilities = {}
    for l2 in penalties:
        probabilities[l2] = cross_validated(x, targets, l2)
        losses[l2] = log_loss(targets, probabilities[l2])
    best = min(losses, key=losses.get)
    chosen = fit_linear(x, targets)
    assert chosen.l2 == best
    fixed = fit_linear(x, targets, l2=best)
    numpy.testing.assert_allclose(chosen.coef, fixed.coef)
    expected = probabilities[best][chosen.held_out]
    numpy.testing.assert_allclose(softmax(chosen.outputs, axis=1), expected, atol=5e-3)


def test_the_loss_may_rise_before_it_falls():
    """The label is the difference of two nearly equal features, which needs large weights."""
    generator = numpy.random.default_rng(10)
    targets = numpy.arange(40) % 2
    first = generator.standard_normal(40)
    second = first + 0.3 * (targets - 0.5)
    noise = generator.standard_normal((40, 6))
    x = StandardScaler().fit_transform(numpy.column_stack([first, second, noise]))
    losses = {}
    for l2 in linear.L2_PENALTIES:
        losses[l2] = log_loss(targets, cross_validated(x, targets, l2))
    assert losses[10.0] > losses[100.0] > losses[0.001]
    assert fit_linear(x, targets).l2 == min(losses, key=losses.get)


def cross_validated(x, targets, l2):
    """Return the probabilities of held-out examples by scikit-learn, in five folds."""
    num_learned = len(x) * 0.8
    regression = LogisticRegression(C=1 / (l2 * num_learned), max_iter=9999, tol=1e-9)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_predict(
        regression,
        x,
        targets,
        cv=folds,
        method="predict_proba",
    )


@pytest.mark.parametrize("seed", [0, 9, 13])
def test_weights_count_in_the_loss_of_examples_held_out(seed, monkeypatch):
    """Compare with scikit-learn's weighted losses. Without weights, the other penalty is better."""
    monkeypatch.setattr(linear, "L2_PENALTIES", (100.0, 0.1))
    generator = numpy.random.default_rng(seed)
    features = generator.standard_normal((60, 6))
    noise = generator.standard_normal(60) * 1.5
    targets = (features[:, 0] + noise > 0).astype(int)
    weights = numpy.where(generator.random(60) < 0.15, 30.0, 1.0)
    x = StandardScaler().fit_transform(features, sample_weight=weights)
    by_strong = held_out_losses(x, targets, weights, 100.0)
    by_weak = held_out_losses(x, targets, weights, 0.1)
    strong_is_better = weights @ by_strong < weights @ by_weak
    strong_is_better_unweighted = by_strong.sum() < by_weak.sum()
    assert strong_is_better != strong_is_better_unweighted
    expected = 100.0 if strong_is_better else 0.1
    assert fit_linear(features, targets, weights).l2 == expected


def held_out_losses(x, targets, weights, l2):
    """Return the loss of each example by a model of the other folds, by scikit-learn."""
    losses = numpy.zeros(len(x))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for learned, held_out in folds.split(x, targets):
        total_weight = weights[learned].sum()
        regression = LogisticRegression(
            C=1 / (l2 * total_weight),
            max_iter=9999,
            tol=1e-9,
        )
        regression.fit(x[learned], targets[learned], weights[learned])
        probabilities = regression.predict_proba(x[held_out])
        of_target = probabilities[range(len(held_out)), targets[held_out]]
        losses[held_out] = -numpy.log(of_target)
    return losses


@pytest.mark.parametrize(
    ("is_score", "share", "num_used"),
    [
        (True, 0.0, 1),
        (True, 0.5, 1),
        (True, 3.0, 12),
        (False, 0.0, 1),
        (False, 3.0, 12),
    ],
)
def test_the_strongest_feature_is_taken_without_the_others(is_score, share, num_used):
    """The other features do not help: for scores, they do not halve the squared error."""
    generator = numpy.random.default_rng(3)
    x = generator.standard_normal((60, 12))
    scores = 3 * x[:, 4] + share * x[:, 7] + generator.standard_normal(60)
    targets = scores if is_score else (scores > 0).astype(int)
    fit = fit_linear(x, targets, strongest=4)
    used = numpy.flatnonzero(fit.coef.any(axis=0))
    assert len(used) == num_used
    assert 4 in used


def test_the_folds_models_are_exact():
    """The penalty is the weakest one of the cosine, which 256 labels need."""
    generator = numpy.random.default_rng(0)
    x = generator.standard_normal((256, 1))
    probabilities = expit(4 * x[:, 0])
    targets = (generator.uniform(size=256) < probabilities).astype(int)
    fit = fit_linear(x, targets, scales=numpy.array([30.0]), strongest=0)
    (slope,) = numpy.diff(fit.coef[:, 0])
    reference = LogisticRegression(C=1e3).fit(x, targets)
    assert slope == pytest.approx(reference.coef_[0, 0], rel=0.1)


def test_too_few_steps_for_a_minimum_are_said(monkeypatch):
    pairs, labels = numbered(300)
    monkeypatch.setattr(minimum, "MAX_ITERATIONS", 20)
    with pytest.warns(ConvergenceWarning, match=r"with l2=0.001, .* choose a larger l2"):
        PairClassifier(Numbers(), l2=0.001).fit(pairs, labels)


def test_a_penalty_without_a_minimum_is_said():
    pairs, labels = numbered(300)
    with pytest.warns(ConvergenceWarning, match=r"with l2=1e-12, .* choose a larger l2"):
        PairClassifier(Numbers(), l2=1e-12).fit(pairs, labels)
