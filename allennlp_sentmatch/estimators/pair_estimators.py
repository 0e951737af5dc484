"""scikit-learn's interface: estimators of a label or a score for pairs of sentences."""

import math
import os
import warnings
from pathlib import Path
from typing import Any, Callable, Optional, Union

import numpy
import torch
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from allennlp_sentmatch.estimators.pairs import checked_pairs, checked_targets
from allennlp_sentmatch.estimators.sentence_encoder import SentenceEncoder, Source
from allennlp_sentmatch.estimators.word_comparison import compare_words
from allennlp_sentmatch.nn import matching
from allennlp_sentmatch.standalone.encoder import FloatArray, normalized
from allennlp_sentmatch.standalone.texts import Sentences, is_blank, noting, noting_pairs

Array = numpy.ndarray[Any, Any]
Words = list[tuple[str, float]]

MATCHERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    name: getattr(matching, name)
    for name in ("concat", "heuristic", "heuristic_difference", "symmetric", "sum_difference")
}
"""The matching functions that have nothing to learn."""

NUM_WORD_FEATURES = 11
"""Those of `compare_words` and the cosine."""

WORD_WEIGHT = 10.0
"""By how much these standardized features are larger than the vectors': they are penalized less."""

L2_PENALTIES = (10.0, 1.0, 0.1, 0.01, 0.001)
"""Those that cross-validation chooses from, for standardized features."""

DEFAULT_L2 = 0.1
"""The penalty where a label has too few pairs for cross-validation."""

ONE_FOLD = 1000
"""From this many pairs on, one fold of a fifth chooses the penalty instead of five."""

MAX_ITERATIONS = 100
"""Of L-BFGS. With weak penalties, most of the time goes into digits that change no prediction."""

BLOCK_SIZE = 4096
"""The number of pairs whose features are in memory in a prediction."""


class PairEstimator(BaseEstimator):  # type: ignore[misc]
    """The parameters and methods that `PairClassifier` and `PairRegressor` share.

    # Parameters

    encoder : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
        A `SentenceEncoder`, or what its constructor takes. By default the encoder that this package
        contains.
    matcher : `str`, optional (default = `"heuristic"`)
        The function from the vectors of two sentences to features of the pair: "heuristic",
        "heuristic_difference", "symmetric" (for pairs whose order does not matter),
        "sum_difference" or "concat". "elbis" and "highway", which learn, need `fine_tune`.
    compare_words : `bool`, optional (default = `True`)
        Whether to add the cosine and the features of `compare_words`, which see negation and
        numbers and are for English. Not used with `fine_tune`.
    l2 : `float`, optional (default = `None`)
        The penalty l2 / 2 * ||W||^2 beside the mean loss of an example, for standardized features.
        By default, cross-validation chooses it. Not used with `fine_tune`.
    fine_tune : `bool`, optional (default = `False`)
        Whether to train the encoder, too, with AllenNLP's trainer and early stopping. The encoder
        must be one of this package, in a folder or an archive. It needs some thousand pairs.
    num_epochs : `int`, optional (default = `10`)
    patience : `int`, optional (default = `2`)
        Stop after this many epochs without a better result on the pairs held out.
    learning_rate : `float`, optional (default = `0.0005`)
    batch_size : `int`, optional (default = `32`)
    validation_fraction : `float`, optional (default = `0.1`)
        Of the pairs, to be held out to choose the epoch. These five settings are of `fine_tune`.
    random_state : `int`, optional (default = `0`)
        The seed of the folds, and of fine-tuning.
    """

    _numeric: bool
    _scoring: str
    _splitters: tuple[Any, Any]
    """The divisions into one fold and the rest, and into folds."""

    def __init__(
        self,
        encoder: Source = None,
        matcher: str = "heuristic",
        compare_words: bool = True,
        l2: Optional[float] = None,
        fine_tune: bool = False,
        num_epochs: int = 10,
        patience: int = 2,
        learning_rate: float = 0.0005,
        batch_size: int = 32,
        validation_fraction: float = 0.1,
        random_state: int = 0,
    ) -> None:
        self.encoder = encoder
        self.matcher = matcher
        self.compare_words = compare_words
        self.l2 = l2
        self.fine_tune = fine_tune
        self.num_epochs = num_epochs
        self.patience = patience
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "PairEstimator":
        """Learn from pairs X, as `checked_pairs` takes them, and their labels or scores y.

        # Raises

        `TypeError` or `ValueError`, naming the pair or the parameter.
        """
        pairs, values = self._checked(X, y)
        targets = self._targets(values)
        first, second = map(list, zip(*pairs))
        if not self.fine_tune:
            self.check_parameters()
        # `set_params` must not change the features of predictions.
        self.features_ = (self.matcher, self.compare_words)
        self.encoder_ = SentenceEncoder(self.encoder)
        self.head_: Any = None
        with noting_pairs(first, second):
            if self.fine_tune:
                from allennlp_sentmatch.estimators.fine_tuning import fine_tune

                self.encoder_, self.head_ = fine_tune(self, first, second, targets)
            else:
                self._fit_linear(self.features(first, second), targets)
        return self

    def explain(self, pair: tuple[str, str]) -> tuple[Words, Words]:
        """The words that decide.

        A word's weight is how much the probability of the predicted label, or the score, falls when
        the word is left out; it is below 0 where that rises. The only word of a sentence cannot be
        left out and has the weight 0.

        # Parameters

        pair : `tuple[str, str]`

        # Returns

        `tuple[list[tuple[str, float]], list[tuple[str, float]]]`
            The words between spaces of the first and of the second sentence with their weights.
        """
        sides = [texts[0].split() for texts in checked_pairs([pair])[:2]]
        variants = [[" ".join(words) for words in sides]]
        for side, words in enumerate(sides):
            for i in range(len(words)):
                shorter = list(variants[0])
                rest = " ".join(words[:i] + words[i + 1 :])
                shorter[side] = variants[0][side] if is_blank(rest) else rest
                variants.append(shorter)
        with noting_pairs(*([text] for text in variants[0])):
            explained = self._explained(self._outputs(variants))
        weights = iter((explained[0] - explained[1:]).tolist())
        first, second = ([(word, next(weights)) for word in words] for words in sides)
        return first, second

    def save(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        """Write the fitted estimator to a folder of tensors and JSON, from which `load` makes it
        again.

        The encoder of this package is not written. Encoders of other packages and of archives are
        not written either: `load` takes them.
        """
        check_is_fitted(self)
        from allennlp_sentmatch.estimators.estimator_folder import save

        with noting(()):
            save(self, Path(folder))

    @classmethod
    def load(
        cls, folder: Union[str, "os.PathLike[str]"], encoder: Source = None
    ) -> "PairEstimator":
        """Read an estimator that `save` has written. The folder may come from anybody: it is data,
        none of which is run.

        # Parameters

        folder : `Union[str, os.PathLike]`
        encoder : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
            The encoder, where it was not written.

        # Raises

        `ValueError` for whatever is wrong with the folder, naming the file, and for another encoder
        than the estimator was fitted with.
        """
        from allennlp_sentmatch.estimators.estimator_folder import load

        with noting(()):
            return load(cls, Path(folder), encoder)

    def check_parameters(self) -> None:
        """Raise a `ValueError` for a matcher or penalty that the linear model cannot have."""
        if self.matcher not in MATCHERS:
            raise ValueError(
                f"matcher must be one of {', '.join(MATCHERS)}, or elbis or highway with "
                f"fine_tune=True; got {self.matcher!r}"
            )
        l2 = self.l2
        if l2 is not None and not (isinstance(l2, (int, float)) and 0 < l2 < math.inf):
            raise ValueError(f"l2 must be a number above 0, or None; got {l2!r}")

    def features(self, first: list[str], second: list[str]) -> FloatArray:
        """The features (N, F) of N pairs for the linear model; those of the words come last."""
        matcher, with_words = self.features_
        u, v = (normalized(vectors) for vectors in self._vectors(first, second))
        parts = [MATCHERS[matcher](torch.from_numpy(u), torch.from_numpy(v)).numpy()]
        if with_words:
            compared = [compare_words(*pair) for pair in zip(first, second)]
            parts += [(u * v).sum(axis=1, keepdims=True), numpy.array(compared, numpy.float32)]
        return numpy.concatenate(parts, axis=1)

    def _checked(self, X: Any, y: Any) -> tuple[list[tuple[str, str]], Array]:
        """N pairs, and their labels or scores (N,)."""
        pairs = list(zip(*checked_pairs(X)[:2]))
        return pairs, checked_targets(y, len(pairs), self._numeric)

    def _targets(self, values: Array) -> Array:
        """Set what all labels or scores (N,) decide, and return them as they are learned."""
        raise NotImplementedError

    def _explained(self, outputs: Array) -> Array:
        """The numbers (N,) that `explain` explains, of outputs (N, C); the first is of the pair."""
        raise NotImplementedError

    def _linear_model(self, penalties: Array) -> tuple[Any, str, Array]:
        """A linear model of scikit-learn, the parameter for its penalty, and that one's values."""
        raise NotImplementedError

    def _folds(self, targets: Array) -> Any:
        """The folds that choose the penalty; `None` if there are too few pairs of a label."""
        rarest = len(targets) if self._numeric else numpy.bincount(targets).min()
        if rarest < 2:
            return None
        one_fold, folds = self._splitters
        if len(targets) >= ONE_FOLD:
            return one_fold(1, test_size=0.2, random_state=self.random_state)
        return folds(min(5, rarest), shuffle=True, random_state=self.random_state)

    def _fit_linear(self, features: Array, targets: Array) -> None:
        """Set `coef_` (C, F) and `intercept_` (C,) for features (N, F) and targets (N,)."""
        scaler = StandardScaler().fit(features)
        weights = numpy.ones(features.shape[1], numpy.float32)
        if self.compare_words:
            weights[-NUM_WORD_FEATURES:] = WORD_WEIGHT
        scaled = scaler.transform(features) * weights
        folds = self._folds(targets) if self.l2 is None else None
        l2 = numpy.array(L2_PENALTIES if folds is not None else [self.l2 or DEFAULT_L2])
        model, name, values = self._linear_model(l2 * len(targets))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if folds is not None:
                search = GridSearchCV(model, {name: values}, cv=folds, scoring=self._scoring)
                model = search.fit(scaled, targets).best_estimator_
            else:
                model.set_params(**{name: values[0]}).fit(scaled, targets)
        self.coef_ = numpy.atleast_2d(model.coef_) * weights / scaler.scale_
        self.intercept_ = numpy.atleast_1d(model.intercept_) - self.coef_ @ scaler.mean_

    def _vectors(self, first: list[str], second: list[str]) -> tuple[FloatArray, FloatArray]:
        """The sentences' vectors, both (N, E); a sentence that occurs twice is encoded once."""
        positions = {text: i for i, text in enumerate(dict.fromkeys(first + second))}
        vectors = self.encoder_.encode(Sentences(positions))
        u, v = (vectors[[positions[text] for text in texts]] for texts in (first, second))
        return u, v

    def _outputs(self, X: Any) -> Array:
        """The logits (N, C) of pairs, or their scores (N, 1)."""
        check_is_fitted(self)
        first, second, _ = checked_pairs(X)
        blocks = [slice(i, i + BLOCK_SIZE) for i in range(0, len(first), BLOCK_SIZE)]
        sides = [(first[block], second[block]) for block in blocks]
        with noting_pairs(first, second):
            if self.head_ is not None:
                return numpy.concatenate([self.head_(*self._vectors(*block)) for block in sides])
            outputs = [self.features(*block) @ self.coef_.T + self.intercept_ for block in sides]
        return numpy.concatenate(outputs)


class PairClassifier(ClassifierMixin, PairEstimator):  # type: ignore[misc]
    """Learns labels of pairs of sentences.

        pairs = [("How do I cook rice?", "Where does rice grow?"), ...]
        classifier = PairClassifier().fit(pairs, labels)
        classifier.predict_proba([("How do I boil rice?", "How is rice cooked?")])

    It is an estimator of scikit-learn. Without `fine_tune`, it is a logistic regression on the
    features of the matcher, from the encoder's vectors at length 1.

    The parameters are those of `PairEstimator`.

    # Attributes

    classes_ : `numpy.ndarray`
        (C,), the labels, sorted.
    """

    _numeric = False
    _scoring = "neg_log_loss"
    _splitters = StratifiedShuffleSplit, StratifiedKFold

    def predict_proba(self, X: Any) -> Array:
        """The probabilities (N, C) of the labels `classes_` for N pairs."""
        probabilities: Array = softmax(self._outputs(X), axis=1)
        return probabilities

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy on N pairs and their labels."""
        return float(super().score(*self._checked(X, y), sample_weight))

    def predict(self, X: Any) -> Array:
        """The most probable labels (N,) of N pairs."""
        best = self._outputs(X).argmax(axis=1)
        labels: Array = self.classes_[best]
        return labels

    def _targets(self, values: Array) -> Array:
        self.classes_, targets = numpy.unique(values, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"all pairs have the label {values.tolist()[0]!r}; a classifier needs at least two "
                "labels"
            )
        return targets

    def _explained(self, outputs: Array) -> Array:
        probabilities: Array = softmax(outputs, axis=1)[:, outputs[0].argmax()]
        return probabilities

    def _linear_model(self, penalties: Array) -> tuple[Any, str, Array]:
        return LogisticRegression(max_iter=MAX_ITERATIONS), "C", 1 / penalties

    def _fit_linear(self, features: Array, targets: Array) -> None:
        super()._fit_linear(features, targets)
        if len(self.classes_) == 2:  # scikit-learn has the second label's logit alone
            self.coef_ = numpy.concatenate([numpy.zeros_like(self.coef_), self.coef_])
            self.intercept_ = numpy.concatenate([[0.0], self.intercept_])


class PairRegressor(RegressorMixin, PairEstimator):  # type: ignore[misc]
    """Learns scores of pairs of sentences, such as their similarity.

        regressor = PairRegressor().fit([("A man sleeps.", "A man is asleep."), ...], scores)
        regressor.predict([("A dog runs.", "An animal is running.")])

    It is an estimator of scikit-learn: a ridge regression, otherwise as `PairClassifier`. With
    `fine_tune`, the scores of predictions lie between the lowest and the highest one in `fit`.

    The parameters are those of `PairEstimator`.
    """

    _numeric = True
    _scoring = "neg_mean_squared_error"
    _splitters = ShuffleSplit, KFold

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination, R^2, on N pairs and their scores."""
        return float(super().score(*self._checked(X, y), sample_weight))

    def predict(self, X: Any) -> Array:
        """The scores (N,) of N pairs."""
        scores: Array = self._outputs(X)[:, 0]
        return scores

    def _targets(self, values: Array) -> Array:
        return values

    def _explained(self, outputs: Array) -> Array:
        scores: Array = outputs[:, 0]
        return scores

    def _linear_model(self, penalties: Array) -> tuple[Any, str, Array]:
        return Ridge(), "alpha", penalties
