"""Linear models of standardized features, and the choice of their L2 penalty.

For N examples with the weights w_n, the features z_n and the targets y_n, the matrix W and the
biases b minimize

    sum_n w_n loss(W z_n + b, y_n) / sum_n w_n + l2 / 2 * ||W||^2

The loss is the negative log-likelihood of a label, or half the squared error of a score. With two
labels, as in scikit-learn, the first has no row in W. The features are standardized to mean 0 and
standard deviation 1, so that a penalty means the same for vectors of any scale.

`fit_linear` comes close to the minimum, for probabilities that are shown. `fit_pipeline` takes at
most a hundred steps and little memory, for predictions from vectors of any width.
"""

import warnings
from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.estimators.groups import are_scores, divide
from allennlp_sentmatch.estimators.minimum import minimum

L2_PENALTIES = (100.0, 10.0, 1.0, 0.1, 0.01, 0.001)  # cross-validation tries them in this order
DEFAULT_L2 = 0.1  # used if fewer than two labels are in two groups of examples
NUM_FOLDS = 5
ONE_FOLD = 1000  # groups from which on one fold of a fifth is enough

WORTH = 0.5
"""For scores, all features are used only if they reduce one feature's error to this share. The gain
of other features within one collection is lost on other collections: of three genres of STS-B, 13
to 30 % less squared error within a genre were up to .03 less of Spearman's correlation in another
one, and with SICK's.
"""

ROUNDING = 1e-6
"""The largest deviation of features that are constant except for rounding, such as the cosines of
texts with the same words. The features of pairs are about 1, in float32.
"""

FEW_ITERATIONS = 100
"""The iterations of scikit-learn's L-BFGS. With weak penalties on wide vectors, most of the time
goes into the last digits of the weights, which change no prediction.
"""

BLOCK_SIZE = 1024  # examples that are standardized in double precision at a time


def fit_pipeline(
    features: Array,
    labels: Array,
    l2: float,
    weights: Optional[Array] = None,
) -> Pipeline:
    """Fit scikit-learn's classifier to features (N, F), labels (N,) and weights (N,), by default 1.

    For the standardization, all examples count equally. The minimum may be inexact.
    """
    total = len(labels) if weights is None else weights.sum()
    scaler = _fitted_scaler(features)
    regression = LogisticRegression(C=1 / (l2 * total), max_iter=FEW_ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # see FEW_ITERATIONS
        regression.fit(scaler.transform(features), labels, weights)
    return make_pipeline(scaler, regression)


class Fit(NamedTuple):
    """A linear model, and the held-out outputs by which it was chosen; without folds, M is 0."""

    coef: Array  # W (C, F), for features that are not standardized
    intercept: Array  # b (C,)
    l2: float
    held_out: Array  # (M,), the positions of the examples that were held out
    outputs: Array  # (M, C), the outputs for these examples


class Choice(NamedTuple):
    """Some features and a penalty, with their outputs for M held-out examples."""

    columns: Array  # (K,), the columns of the features
    l2: float
    loss: float = numpy.inf  # the sum over the examples held out
    held_out: Array = numpy.zeros(0, int)  # (M,), the examples' positions
    outputs: Array = numpy.zeros(0)  # (M, C)


@numpy.errstate(over="ignore", invalid="ignore")  # the caller checks the outputs
def fit_linear(
    features: Array,
    targets: Array,
    weights: Array,
    groups: Array,
    feature_weights: Array,
    strongest: Optional[int],
    l2: Optional[float],
    random_state: Optional[int],
) -> Fit:
    """Fit labels (N,) from 0 to C - 1, which all occur, or scores (N,) (floats; C is 1).

    The standardized features (N, F) are multiplied by `feature_weights` (F,): the larger, the less
    they are penalized. Without `l2`, folds choose it, which `random_state` seeds, and whether the
    `strongest` feature, if there is one, is taken without the others. The folds keep the `groups`
    (N,), numbers from 0, together.
    """
    weights = weights * (len(weights) / weights.sum())  # mean 1, for the scaler's test of constants
    scaler = _fitted_scaler(features, weights)
    scaler.scale_[scaler.scale_ <= ROUNDING] = numpy.inf  # these features become 0
    scaled = scaler.transform(features.astype(float), copy=False)
    scaled *= feature_weights  # in place, since many examples fill the memory
    scale = 1.0
    if are_scores(targets):
        scale = abs(targets).max() or 1.0  # squares of large scores may overflow
        targets = targets / scale
    if l2 is None:
        divisions = _divisions(targets, groups, random_state)
        choice = _choose(scaled, targets, weights, divisions, strongest)
    else:
        choice = Choice(numpy.arange(scaled.shape[1]), l2)
    chosen = _columns(scaled, choice.columns)
    found, intercept = minimum(chosen, targets, weights, choice.l2)
    coef = numpy.zeros((len(found), scaled.shape[1]))
    coef[:, choice.columns] = found
    coef *= scale * feature_weights / scaler.scale_
    return Fit(
        coef=coef,
        intercept=intercept * scale - coef @ scaler.mean_,
        l2=choice.l2,
        held_out=choice.held_out,
        outputs=choice.outputs * scale,
    )


def _fitted_scaler(features: Array, weights: Optional[Array] = None) -> StandardScaler:
    """Return a scaler of features (N, F) with their means and deviations in double precision.

    The examples have `weights` (N,), by default 1.
    """
    scaler = StandardScaler()
    for start in range(0, len(features), BLOCK_SIZE):
        block = slice(start, start + BLOCK_SIZE)
        own = None if weights is None else weights[block]
        scaler.partial_fit(features[block].astype(float), sample_weight=own)
    return scaler


def _divisions(targets: Array, groups: Array, random_state: Optional[int]) -> list[Array]:
    """Return the positions that each fold holds out.

    If there are many groups, there is a single fold, of a fifth. A label with fewer groups than
    folds is never held out.
    """
    labels = targets
    if are_scores(targets):
        labels = numpy.zeros(len(targets), int)
    divisions = divide(groups, labels, NUM_FOLDS, random_state)
    num_groups = groups.max() + 1
    return divisions[:1] if num_groups >= ONE_FOLD else divisions


def _choose(
    features: Array,
    targets: Array,
    weights: Array,
    divisions: Sequence[Array],
    strongest: Optional[int],
) -> Choice:
    """Choose all features or only the strongest one, and the penalty, by the held-out examples.

    `features` (N, F) are standardized and weighted. All are chosen if their loss is lower; of
    scores, if it is lower than the share `WORTH` of the strongest one's.
    """
    every = numpy.arange(features.shape[1])
    whole = _cross_validate(features, targets, weights, divisions, every)
    if strongest is None or len(every) == 1 or not divisions:
        return whole
    own = numpy.array([strongest])
    narrow = _cross_validate(features, targets, weights, divisions, own)
    worth = WORTH if are_scores(targets) else 1.0
    return whole if whole.loss < worth * narrow.loss else narrow


def _columns(features: Array, columns: Array) -> Array:
    """Return some of the columns, without copying all of them."""
    return features if len(columns) == features.shape[1] else features[:, columns]


def _cross_validate(
    features: Array,
    targets: Array,
    weights: Array,
    divisions: Sequence[Array],
    columns: Array,
) -> Choice:
    """Choose the penalty with the lowest loss on held-out examples, for some features.

    Without divisions, it is `DEFAULT_L2`. Penalties are tried from the strongest to the weakest,
    and the stronger one wins in ties.
    """
    best = Choice(columns, DEFAULT_L2)
    if not divisions:
        return best
    features = _columns(features, columns)
    held_out = numpy.concatenate(divisions)
    # Weaker penalties than the best one take the longest. With few examples, and so with several
    # divisions, the loss may rise and then fall below its first minimum.
    stops_early = len(divisions) == 1
    for l2 in L2_PENALTIES:
        outputs = _outputs_held_out(features, targets, weights, divisions, l2)
        loss = float(weights[held_out] @ _losses(outputs, targets[held_out]))
        if loss < best.loss:
            best = Choice(columns, l2, loss, held_out, outputs)
        elif stops_early and loss > best.loss:
            break
    return best


def _outputs_held_out(
    features: Array,
    targets: Array,
    weights: Array,
    divisions: Sequence[Array],
    l2: float,
) -> Array:
    """Return the outputs (M, C) for held-out examples, from models of the other examples."""
    parts = []
    for division in divisions:
        rest = numpy.setdiff1d(numpy.arange(len(targets)), division)
        coef, intercept = minimum(features[rest], targets[rest], weights[rest], l2)
        parts.append(features[division] @ coef.T + intercept)
    return numpy.concatenate(parts)


def _losses(outputs: Array, targets: Array) -> Array:
    """Return the loss of each example (M,), given its output (M, C).

    It is the squared error of a score, and the negative log-likelihood of a label.
    """
    if are_scores(targets):
        errors: Array = (outputs[:, 0] - targets) ** 2
        return errors
    logs = log_softmax(outputs, axis=1)
    likelihoods: Array = logs[range(len(outputs)), targets]
    return -likelihoods
