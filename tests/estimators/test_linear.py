"""The minimum of linear models, against scikit-learn's, and the choice of the penalty."""

import numpy
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from allennlp_sentmatch import PairClassifier
from allennlp_sentmatch.estimators import heads, linear, minimum


class Numbers:
    """Encodes sentences that end in a number, which determines the vectors."""

    def encode(self, sentences):
        seeds = [int(text.split()[-1]) for text in sentences]
        return numpy.array([numpy.random.default_rng(seed).standard_normal(16) for seed in seeds])


def numbered(count):
    """Pairs whose labels four of 16 products decide, with noise."""
    pairs = [(f"a {2 * i}", f"b {2 * i + 1}") for i in range(count)]
    u, v = (Numbers().encode([pair[side] for pair in pairs]) for side in (0, 1))
    noise = numpy.random.default_rng(1).standard_normal(count) / 2
    return pairs, numpy.where((u * v)[:, :4].sum(axis=1) + noise > 0, "yes", "no").tolist()


@pytest.mark.parametrize(
    ("count", "labels", "each"),
    [(400, 1, 1), (400, 24, 3), (200, 1, 1), (200, 4, 2)],
)
def test_rare_labels_do_not_change_the_choice_of_the_penalty(
    count, labels, each, recwarn, monkeypatch
):
    """One fold chooses for 400 pairs, and five folds for 200."""
    monkeypatch.setattr(linear, "ONE_FOLD", 300)
    pairs, targets = numbered(count + 200)
    rare = [f"rare {i}" for i in range(labels) for _ in range(each)]
    common = numpy.arange(len(rare), count)
    model = PairClassifier(Numbers(), compare_words=False)
    without = clone(model).fit([pairs[i] for i in common], [targets[i] for i in common])
    learned = model.fit(pairs[:count], rare + targets[len(rare) : count])
    expected = without.score(pairs[count:], targets[count:])
    margin = 0.02 if labels == 1 else 0.04
    assert learned.score(pairs[count:], targets[count:]) >= expected - margin
    assert set(rare) < set(learned.classes_)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("count", "l2", "labels"),
    [(60, 1, 2), (60, 0.001, 3), (300, 0.01, 3), (300, 0.001, 2)],
)
def test_the_minimum_is_reached(count, l2, labels):
    """The order of the pairs does not matter. The reference needs thousands of steps."""
    pairs, targets = numbered(count + 100)
    targets = [label if i % labels < 2 else "maybe" for i, label in enumerate(targets)]
    model = PairClassifier(Numbers(), l2=l2).fit(pairs[:count], targets[:count])
    sides = (map(list, zip(*part)) for part in (pairs[:count], pairs[count:]))
    inputs = (heads.pair_inputs(model.encoder_, "ordered", *part) for part in sides)
    x, tested = (model.head_.features(*part) for part in inputs)
    scaler = StandardScaler().fit(x.astype(float))
    scales = numpy.where(numpy.arange(x.shape[1]) < 64, 1, 10)
    scales[64] = 30  # the cosine
    reference = LogisticRegression(C=1 / (l2 * count), max_iter=99999, tol=1e-10)
    reference.fit(scaler.transform(x.astype(float)) * scales, targets[:count])
    expected = reference.predict_proba(scaler.transform(tested.astype(float)) * scales)
    numpy.testing.assert_allclose(model.predict_proba(pairs[count:]), expected, atol=1e-4)
    model.fit(pairs[:count][::-1], targets[:count][::-1])
    numpy.testing.assert_allclose(model.predict_proba(pairs[count:]), expected, atol=1e-4)


@pytest.mark.parametrize("labels", [2, 3])
def test_the_penalty_has_the_lowest_loss_of_examples_held_out(labels, monkeypatch):
    """Compare with scikit-learn's folds and losses. The candidates are close to each other."""
    monkeypatch.setattr(linear, "L2_PENALTIES", numpy.geomspace(10, 0.001, 9).tolist())
    generator = numpy.random.default_rng(2)
    targets = numpy.repeat(numpy.arange(labels), 20)
    x = generator.standard_normal((labels, 10))[targets] / 2
    x = StandardScaler().fit_transform(x + generator.standard_normal(x.shape))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def predicted(l2):
        regression = LogisticRegression(C=1 / (l2 * len(x) * 0.8), max_iter=9999, tol=1e-9)
        return cross_val_predict(regression, x, targets, cv=folds, method="predict_proba")

    best = min(linear.L2_PENALTIES, key=lambda l2: log_loss(targets, predicted(l2)))
    given = (x, targets, numpy.ones(len(x)), numpy.arange(len(x)))
    plain = numpy.ones(10)
    chosen = linear.fit_linear(*given, plain, None, None, 0)
    fixed = linear.fit_linear(*given, plain, None, best, 0)
    numpy.testing.assert_allclose(chosen.coef, fixed.coef)
    assert chosen.l2 == best
    expected = predicted(best)[chosen.held_out]
    numpy.testing.assert_allclose(softmax(chosen.outputs, axis=1), expected, atol=5e-3)


@pytest.mark.parametrize("seed", [0, 9, 13])
def test_weights_count_in_the_loss_of_examples_held_out(seed, monkeypatch):
    """Compare with scikit-learn's weighted losses. Without weights, the other penalty is better."""
    monkeypatch.setattr(linear, "L2_PENALTIES", (100.0, 0.1))
    generator = numpy.random.default_rng(seed)
    features = generator.standard_normal((60, 6))
    targets = (features[:, 0] + generator.standard_normal(60) * 1.5 > 0).astype(int)
    weights = numpy.where(generator.random(60) < 0.15, 30.0, 1.0)
    x = StandardScaler().fit_transform(features, sample_weight=weights)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(x, targets))

    def losses(l2):
        """The sum of the losses with the weights, and without."""
        errors = numpy.zeros(60)
        for others, held_out in folds:
            own = weights[others]
            regression = LogisticRegression(C=1 / (l2 * own.sum()), max_iter=9999, tol=1e-9)
            regression.fit(x[others], targets[others], own)
            probs = regression.predict_proba(x[held_out])
            errors[held_out] = -numpy.log(probs[range(len(held_out)), targets[held_out]])
        return weights @ errors, errors.sum()

    strong, weak = map(losses, linear.L2_PENALTIES)
    expected = 100.0 if strong[0] < weak[0] else 0.1
    unweighted = 100.0 if strong[1] < weak[1] else 0.1
    fit = linear.fit_linear(
        features, targets, weights, numpy.arange(60), numpy.ones(6), None, None, 0
    )
    assert fit.l2 == expected != unweighted


@pytest.mark.parametrize(
    ("is_score", "share", "number"),
    [(True, 0.0, 1), (True, 0.5, 1), (True, 3.0, 12), (False, 0.0, 1), (False, 3.0, 12)],
)
def test_the_strongest_feature_is_taken_without_the_others(is_score, share, number):
    """The other features do not help: for scores, they do not halve the squared error."""
    generator = numpy.random.default_rng(3)
    x = generator.standard_normal((60, 12))
    scores = 3 * x[:, 4] + share * x[:, 7] + generator.standard_normal(60)
    targets = scores if is_score else (scores > 0).astype(int)
    given = x, targets, numpy.ones(60), numpy.arange(60)
    fit = linear.fit_linear(*given, numpy.ones(12), 4, None, 0)
    used = numpy.flatnonzero(fit.coef.any(axis=0))
    assert len(used) == number
    assert 4 in used


def test_the_folds_models_are_exact():
    """The penalty is the weakest one of the cosine, which 256 labels need."""
    generator = numpy.random.default_rng(0)
    x = generator.standard_normal((256, 1))
    targets = (generator.uniform(size=256) < 1 / (1 + numpy.exp(-4 * x[:, 0]))).astype(int)
    given = x, targets, numpy.ones(256), numpy.arange(256)
    fit = linear.fit_linear(*given, numpy.array([30.0]), 0, None, 0)
    slope = numpy.diff(fit.coef[:, 0])[0]
    assert slope == pytest.approx(LogisticRegression(C=1e3).fit(x, targets).coef_[0, 0], rel=0.1)


def test_a_minimum_that_is_not_reached_is_said(monkeypatch):
    pairs, targets = numbered(300)
    monkeypatch.setattr(minimum, "MAX_ITERATIONS", 20)
    with pytest.warns(ConvergenceWarning, match="with l2=0.001, .* choose a larger l2"):
        PairClassifier(Numbers(), l2=0.001).fit(pairs, targets)
    monkeypatch.undo()
    with pytest.warns(ConvergenceWarning, match="with l2=1e-12, .* choose a larger l2"):
        PairClassifier(Numbers(), l2=1e-12).fit(pairs, targets)
