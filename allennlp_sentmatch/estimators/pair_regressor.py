"""scikit-learn's interface: an estimator of a score for pairs of sentences."""

from typing import Any

from sklearn.base import RegressorMixin

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.estimators.pair_estimator import PairEstimator


class PairRegressor(RegressorMixin, PairEstimator):  # type: ignore[misc]
    """Learns scores of pairs of sentences, such as their similarity.

        regressor = PairRegressor().fit([("A man sleeps.", "A man is asleep."), ...], scores)
        regressor.predict([("A dog runs.", "An animal is running.")])

    It is a scikit-learn estimator: a ridge regression, otherwise as `PairClassifier`. The scores
    that it predicts lie between the lowest and the highest one in `fit`. Unless the other features
    halve the squared error of the held-out pairs, the only feature is the cosine, which also ranks
    pairs of other kinds.

    Its base class `PairEstimator` has the parameters.
    """

    _numeric = True

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination, R^2, on N pairs and their scores.

        `sample_weight` (N,) is by default 1, and is checked as in `fit`.
        """
        return float(super().score(*self._checked(X, y, sample_weight)))

    def predict(self, X: Any) -> Array:
        """Predict the scores (N,) of N pairs."""
        scores: Array = self._outputs(X)[:, 0]
        return scores
