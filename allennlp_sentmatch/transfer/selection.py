"""Choosing the L2 penalty on validation data, and testing with it.

The test data have no part in the choice. Of equally good penalties, the strongest is chosen.
scikit-learn's `LogisticRegressionCV` within `cross_val_predict` gives the same figures in 2.6 times
the time (CR, 100 dimensions): it fits each pair of folds twice.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from sklearn.model_selection import KFold, StratifiedKFold

from allennlp_sentmatch.transfer.logistic_regression import L2_PENALTIES, Array, Prediction


class Predictions(NamedTuple):
    """The predictions of the chosen classifiers for the test examples."""

    #: (N,), labels or scores.
    predicted: Array
    #: The penalties that were chosen: one, or one for each test fold.
    l2_penalties: list[float]


class Data(NamedTuple):
    """Features (N, D) and targets (N,)."""

    features: Array
    targets: Array


class Selection(NamedTuple):
    """The ways to choose a penalty and to predict with it."""

    prediction: Prediction
    num_folds: int
    """At least 3."""
    seed: int
    """Of the folds."""
    description: str
    """Of the progress bar."""

    def with_validation_data(
        self, train: Data, validation: Data, test_features: Array
    ) -> Predictions:
        """Predictions of the classifier that is best on validation data."""
        path = self.prediction.fit_path(*train, L2_PENALTIES)
        classifiers = list(Tqdm.tqdm(path, desc=self.description, total=len(L2_PENALTIES)))
        predicted = [self.prediction.predict(one, validation.features) for one in classifiers]
        best = self._best(predicted, validation.targets)
        predictions = self.prediction.predict(classifiers[best], test_features)
        return Predictions(predictions, [L2_PENALTIES[best]])

    def with_cross_validation(self, train: Data, test_features: Array) -> Predictions:
        """Predictions of a classifier whose penalty is chosen by cross-validation.

        The penalty is the one with the best predictions over all folds of the training data; then
        all of them are trained on.
        """
        folds = self._folds(train.targets)
        predicted = _empty(train.targets, len(L2_PENALTIES))
        for fold in Tqdm.tqdm(range(self.num_folds), desc=self.description):
            self._predict(train, folds != fold, folds == fold, predicted)
        best = L2_PENALTIES[self._best(predicted, train.targets)]
        (classifier,) = self.prediction.fit_path(*train, [best])
        return Predictions(self.prediction.predict(classifier, test_features), [best])

    def with_nested_cross_validation(self, data: Data) -> Predictions:
        """Predictions for every example, by a classifier that has not seen the example's fold.

        For each fold, the penalty is chosen by cross-validation within the other folds. A
        classifier that is trained without two folds validates for each of them on the other one: K
        folds take K (K - 1) / 2 paths of penalties, half of what two nested loops take.
        """
        folds = self._folds(data.targets)
        # For each test fold and each penalty: (K, P, N).
        validated = _empty(data.targets, self.num_folds, len(L2_PENALTIES))
        pairs = list(combinations(range(self.num_folds), 2))
        for first, second in Tqdm.tqdm(pairs, desc=self.description):
            held_out = (folds == first) | (folds == second)
            predicted = _empty(data.targets, len(L2_PENALTIES))
            self._predict(data, ~held_out, held_out, predicted)
            validated[first][:, folds == second] = predicted[:, folds == second]
            validated[second][:, folds == first] = predicted[:, folds == first]
        chosen = []
        tested = _empty(data.targets, 1)
        for fold in range(self.num_folds):
            others = folds != fold
            chosen.append(
                L2_PENALTIES[self._best(validated[fold][:, others], data.targets[others])]
            )
            self._predict(data, others, ~others, tested, chosen[-1:])
        return Predictions(tested[0], chosen)

    def _predict(
        self,
        data: Data,
        trained: Array,
        held_out: Array,
        predicted: Array,
        l2_penalties: Sequence[float] = L2_PENALTIES,
    ) -> None:
        """Fill the columns `held_out` of `predicted` (P, N), a row for each penalty."""
        path = self.prediction.fit_path(data.features[trained], data.targets[trained], l2_penalties)
        for row, classifier in zip(predicted, path):
            row[held_out] = self.prediction.predict(classifier, data.features[held_out])

    def _best(self, predicted: Iterable[Array], targets: Array) -> int:
        """The number of the best of some predictions."""
        return int(numpy.argmax([self.prediction.score(row, targets) for row in predicted]))

    def _folds(self, targets: Array) -> Array:
        """The fold of each example (N,): all folds have about the same share of every label."""
        is_score = targets.dtype.kind == "f"
        smallest = len(targets) if is_score else numpy.unique(targets, return_counts=True)[1].min()
        if smallest < self.num_folds:
            raise ConfigurationError(
                f"{'there are' if is_score else 'a label has'} {smallest} examples, too few for "
                f"{self.num_folds} folds: each needs one"
            )
        folds = numpy.empty(len(targets), int)
        splitter = (KFold if is_score else StratifiedKFold)(
            self.num_folds, shuffle=True, random_state=self.seed
        )
        for fold, (_, held_out) in enumerate(splitter.split(targets, targets)):
            folds[held_out] = fold
        return folds


def _empty(targets: Array, *sizes: int) -> Array:
    """Room for several predictions (..., N) of the targets (N,)."""
    return numpy.empty((*sizes, len(targets)), targets.dtype)
