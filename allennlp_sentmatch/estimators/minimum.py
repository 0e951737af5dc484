"""The minimum of the loss of a linear model, as `linear.py` states it, for standardized features.

Scores are learned by a ridge regression, in closed form; labels by a logistic regression, by
L-BFGS.
"""

import warnings

import numpy
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.estimators.groups import are_scores

TOLERANCE = 1e-3
"""The bound on a logit's error at which L-BFGS stops. The largest errors of probabilities that
were measured are 1/25 of the bound.
"""

MAX_ITERATIONS = 2000  # steps of L-BFGS; with the weakest penalty, SICK's 4,500 pairs take 300


def minimum(features: Array, targets: Array, weights: Array, l2: float) -> tuple[Array, Array]:
    """Return W (C, F) and b (C,) for features (N, F), targets (N,) and weights (N,).

    Targets in floats are scores, others labels. Warns if the weights of labels are inexact.
    """
    weights = weights / weights.sum()
    if are_scores(targets):
        ridge = Ridge(alpha=l2).fit(features, targets, weights)
        return numpy.atleast_2d(ridge.coef_), numpy.atleast_1d(ridge.intercept_)
    if len(features) >= features.shape[1]:
        coef, intercept = _logistic_minimum(features, targets, weights, l2)
        return coef.T, intercept
    # The rows of W are combinations of the examples, so that N numbers of each suffice.
    basis, triangle = numpy.linalg.qr(features.T)
    coef, intercept = _logistic_minimum(triangle.T, targets, weights, l2)
    return (basis @ coef).T, intercept


def _logistic_minimum(
    features: Array,
    targets: Array,
    weights: Array,
    l2: float,
) -> tuple[Array, Array]:
    """Return W^T (F, C) and b (C,) of a logistic regression, whose weights (N,) have the sum 1."""
    loss = _LogisticLoss(features, targets, weights, l2)
    start = loss.start()
    # For the penalty's curvature, the error ||W - W*|| is at most the slope's length / penalty.
    largest = TOLERANCE * loss.penalty / max(loss.feature_length, 1e-12)
    largest_component = largest / numpy.sqrt(start.size)
    options = {
        "maxiter": MAX_ITERATIONS,
        "maxfun": 2 * MAX_ITERATIONS,
        "maxcor": 20,
        "ftol": 0,
        "gtol": largest_component,
    }
    found = minimize(loss.value_and_slope, start, jac=True, method="L-BFGS-B", options=options)
    is_steep = abs(found.jac).max() > largest_component
    if is_steep and loss.slope_length(found.jac) > 3 * largest:
        warnings.warn(
            f"with l2={l2:g}, the logistic regression has not come within {TOLERANCE / 10:g} of "
            "its best probabilities; choose a larger l2",
            ConvergenceWarning,
            stacklevel=3,
        )
    return loss.weights_and_biases(found.x)


class _LogisticLoss:
    """The loss of a logistic regression as a function of V = L^T W and b / 2.

    L L^T is roughly the Hessian for one label: features that are correlated or differ in scale cost
    L-BFGS several times more steps in terms of W.
    """

    def __init__(self, features: Array, targets: Array, weights: Array, l2: float) -> None:
        num_labels = targets.max() + 1
        self._features = features  # (N, F)
        self._weights = weights[:, None]  # (N, 1)
        self._expected = numpy.eye(num_labels)[targets] * self._weights  # (N, C)
        self.penalty = 2 * l2 if num_labels == 2 else l2  # rows w / 2 and -w / 2 instead of w
        hessian = features.T @ (features * self._weights) / 4  # (F, F)
        trace = hessian.trace()
        self.feature_length = numpy.sqrt(4 * trace)  # the root mean square of ||z_n||
        diagonal = numpy.diag_indices_from(hessian)
        hessian[diagonal] += max(self.penalty, 1e-12 * trace)
        self._root = numpy.linalg.cholesky(hessian)  # L
        self._shape = (len(hessian) + 1, num_labels)

    def start(self) -> Array:
        """Return where L-BFGS starts: no weights, and the biases of the labels' frequencies."""
        start = numpy.zeros(self._shape)
        start[-1] = numpy.log(self._expected.sum(axis=0)) / 2
        return start.ravel()

    def value_and_slope(self, flat: Array) -> tuple[float, Array]:
        """Return the loss, and its slope in terms of all components."""
        v = flat.reshape(self._shape)
        w = solve_triangular(self._root, v[:-1], lower=True, trans="T", check_finite=False)
        logs = log_softmax(self._features @ w + 2 * v[-1], axis=1)
        errors = numpy.exp(logs) * self._weights - self._expected
        slope_of_w = self._features.T @ errors + self.penalty * w
        slope_of_v = solve_triangular(self._root, slope_of_w, lower=True, check_finite=False)
        slope_of_biases = 2 * errors.sum(axis=0)
        value = self.penalty / 2 * (w * w).sum() - (self._expected * logs).sum()
        return value, numpy.vstack([slope_of_v, slope_of_biases]).ravel()

    def slope_length(self, slope: Array) -> float:
        """Return the length of a slope in terms of W."""
        slope_of_v = slope.reshape(self._shape)[:-1]
        return float(numpy.linalg.norm(self._root @ slope_of_v))

    def weights_and_biases(self, flat: Array) -> tuple[Array, Array]:
        """Return W^T (F, C) and b (C,)."""
        v = flat.reshape(self._shape)
        w: Array = solve_triangular(self._root, v[:-1], lower=True, trans="T")
        return w, 2 * v[-1]
