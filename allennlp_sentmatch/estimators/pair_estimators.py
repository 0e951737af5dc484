"""scikit-learn's interface: estimators of a label or a score for pairs of sentences."""

import copy
import os
import sys
import warnings
from collections.abc import Mapping
from itertools import compress
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Callable, Optional, TypeVar, Union, cast

import numpy
import torch
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from allennlp_sentmatch.estimators.linear import fit_linear
from allennlp_sentmatch.estimators.pairs import Pairs, checked_pairs, checked_targets
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

SYMMETRIC = ("symmetric", "sum_difference")
"""The matchers that do not see the order of a pair. With them, features of words do not either."""

PARAMETERS: dict[str, tuple[type, float, float, str]] = {
    "compare_words": (bool, -1, 2, "True or False"),
    "l2": (float, 0, sys.float_info.max, "a number above 0, or None"),
    "fine_tune": (bool, -1, 2, "True or False"),
    "num_epochs": (int, 0, sys.maxsize, "an integer above 0"),
    "patience": (int, 0, sys.maxsize, "an integer above 0"),
    "learning_rate": (float, 0, sys.float_info.max, "a number above 0"),
    "batch_size": (int, 0, sys.maxsize, "an integer above 0"),
    "validation_fraction": (float, 0, 1, "a number between 0 and 1"),
    "random_state": (int, -1, 2**32, "an integer from 0 to 4294967295, or None"),
}
"""Their types, the numbers that they lie between, and both in words."""

Self = TypeVar("Self", bound="PairEstimator")

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
        "sum_difference" or "concat"; with `fine_tune`, also those that learn: "elbis", "highway",
        "mlb" and "mfb".
    compare_words : `bool`, optional (default = `True`)
        Whether to add the cosine and the features of `compare_words`, which see negation and
        numbers and are for English. Not used with `fine_tune`.
    l2 : `float`, optional (default = `None`)
        The penalty l2 / 2 * ||W||^2 beside the mean loss of an example, for standardized features.
        By default, cross-validation chooses it; it is 0.1 where fewer than two labels have two
        pairs. Not used with `fine_tune`.
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
        The seed of the folds, and of fine-tuning; with `None`, another one in each fit.
    """

    _numeric: bool

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
        random_state: Optional[int] = 0,
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

    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from pairs X, as `checked_pairs` takes them, and their labels or scores y.

        A pair with the weight 2 in `sample_weight` (N,) counts as two equal ones; with 0, it is
        left out. `fine_tune` takes no weights. After an error, the estimator is as it was before.

        # Raises

        `TypeError` or `ValueError`, naming the pair or the parameter.
        """
        parameters = self.checked_parameters()
        if self.fine_tune and (sample_weight is not None or parameters.get("class_weight")):
            raise ValueError("fine_tune=True takes no sample_weight and no class_weight")
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        fitted = copy.copy(self)
        fitted.__dict__ = {**kept, **parameters}
        fitted._fit(X, y, sample_weight)
        learned = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        self.__dict__ = {**kept, **learned}
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Set the attributes of a new estimator, whose parameters have been checked."""
        *sides, names = checked_pairs(X)
        values = checked_targets(y, len(sides[0]), self._numeric)
        weights = _checked_weights(sample_weight, len(values))
        first, second = (Sentences(compress(texts, weights)) for texts in sides)
        targets, weights = self._targets(values[weights > 0], weights[weights > 0])
        if names is not None:
            self.feature_names_in_ = numpy.array(names, dtype=object)
        self.features_ = (self.matcher, self.compare_words, self.matcher not in SYMMETRIC)
        self.encoder_ = SentenceEncoder(self.encoder)
        self.head_: Any = None
        with noting_pairs(first, second):
            if self.fine_tune:
                from allennlp_sentmatch.estimators.fine_tuning import fine_tune

                self.encoder_, self.head_ = fine_tune(self, first, second, targets)
            else:
                features = self.features(first, second)
                scales = numpy.ones(features.shape[1])
                if self.compare_words:
                    scales[-NUM_WORD_FEATURES:] = WORD_WEIGHT
                self.coef_, self.intercept_ = fit_linear(
                    features, targets, weights, scales, self.l2, self.random_state
                )
            self._outputs([(first[0], second[0])])

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
        sides = [texts[0].split() for texts in self._pairs([pair])[:2]]
        variants = [[" ".join(words) for words in sides]]
        for side, words in enumerate(sides):
            for i in range(len(words)):
                shorter = list(variants[0])
                rest = " ".join(words[:i] + words[i + 1 :])
                shorter[side] = variants[0][side] if is_blank(rest) else rest
                variants.append(shorter)
        with noting_pairs(*([text] for text in variants[0])):
            outputs = self._outputs(variants)
        if not self._numeric:
            outputs = softmax(outputs, axis=1)[:, [outputs[0].argmax()]]
        explained = outputs[:, 0]
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
        cls: type[Self], folder: Union[str, "os.PathLike[str]"], encoder: Source = None
    ) -> Self:
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
            return cast(Self, load(cls, Path(folder), encoder))

    def checked_parameters(self) -> dict[str, Any]:
        """All parameters but the encoder, as Python's own types, which `save` can write.

        # Raises

        `ValueError`, naming the parameter that is impossible.
        """
        parameters: dict[str, Any] = self.get_params(deep=False)
        del parameters["encoder"]
        matcher = self.matcher
        if not isinstance(matcher, str) or not (self.fine_tune or matcher in MATCHERS):
            raise ValueError(
                f"matcher must be one of {', '.join(MATCHERS)}, or elbis, highway, mlb or mfb "
                f"with fine_tune=True; got {matcher!r}"
            )
        parameters["matcher"] = str(matcher)
        for name, (kind, low, high, form) in PARAMETERS.items():
            value = given = getattr(self, name)
            if isinstance(value, numpy.generic):
                value = value.item()
            if value is None and form.endswith("None"):
                continue
            types = {bool: bool, int: Integral, float: Real}[kind]
            is_right = isinstance(value, types) and isinstance(value, bool) == (kind is bool)
            if not is_right or not low < value < high:
                raise ValueError(f"{name} must be {form}; got {given!r:.50}")
            parameters[name] = kind(value)
        return parameters

    def features(self, first: list[str], second: list[str]) -> FloatArray:
        """The features (N, F) of N pairs for the linear model; those of the words come last."""
        matcher, with_words, ordered = self.features_
        u, v = (normalized(vectors) for vectors in self._vectors(first, second))
        parts = [MATCHERS[matcher](torch.from_numpy(u), torch.from_numpy(v)).numpy()]
        if with_words:
            compared = [compare_words(*pair, ordered) for pair in zip(first, second)]
            parts += [(u * v).sum(axis=1, keepdims=True), numpy.array(compared, numpy.float32)]
        return numpy.concatenate(parts, axis=1)

    def _pairs(self, X: Any) -> Pairs:
        """N pairs, whose columns have the names of those in `fit`."""
        return checked_pairs(X, getattr(self, "feature_names_in_", None))

    def _checked(self, X: Any, y: Any) -> tuple[list[tuple[str, str]], Array]:
        """N pairs, and their labels or scores (N,)."""
        pairs = list(zip(*self._pairs(X)[:2]))
        return pairs, checked_targets(y, len(pairs), self._numeric)

    def _targets(self, values: Array, weights: Array) -> tuple[Array, Array]:
        """Set what all labels or scores (N,) decide; return them, and their weights, as learned."""
        return values, weights

    def _vectors(self, first: list[str], second: list[str]) -> tuple[FloatArray, FloatArray]:
        """The sentences' vectors, both (N, E); a sentence that occurs twice is encoded once."""
        positions = {text: i for i, text in enumerate(dict.fromkeys(first + second))}
        vectors = self.encoder_.encode(Sentences(positions))
        u, v = (vectors[[positions[text] for text in texts]] for texts in (first, second))
        return u, v

    def _outputs(self, X: Any) -> Array:
        """The logits (N, C) of pairs, or their scores (N, 1)."""
        check_is_fitted(self)
        first, second, _ = self._pairs(X)
        blocks = [slice(i, i + BLOCK_SIZE) for i in range(0, len(first), BLOCK_SIZE)]
        sides = [(first[block], second[block]) for block in blocks]
        with noting_pairs(first, second), numpy.errstate(over="ignore", invalid="ignore"):
            if self.head_ is not None:
                outputs = [self.head_(*self._vectors(*block)) for block in sides]
            else:
                outputs = [
                    self.features(*block) @ self.coef_.T + self.intercept_ for block in sides
                ]
        joined: Array = numpy.concatenate(outputs)
        finite = numpy.isfinite(joined).all(axis=1)
        if not finite.all():
            raise ValueError(
                f"the output for pair {finite.argmin()} is not finite: "
                "scores or weights are too large"
            )
        return joined


class PairClassifier(ClassifierMixin, PairEstimator):  # type: ignore[misc]
    """Learns labels of pairs of sentences.

        pairs = [("How do I cook rice?", "Where does rice grow?"), ...]
        classifier = PairClassifier().fit(pairs, labels)
        classifier.predict_proba([("How do I boil rice?", "How is rice cooked?")])

    It is an estimator of scikit-learn. Without `fine_tune`, it is a logistic regression on the
    features of the matcher, from the encoder's vectors at length 1.

    # Parameters

    class_weight : `Union[str, dict]`, optional (default = `None`)
        How much the pairs of each label count: a number above 0 for each, or "balanced" for labels
        that count equally, however many pairs they have. The others are those of `PairEstimator`.

    # Attributes

    classes_ : `numpy.ndarray`
        (C,), the labels, sorted.
    """

    _numeric = False

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
        random_state: Optional[int] = 0,
        class_weight: Union[str, Mapping[Any, float], None] = None,
    ) -> None:
        super().__init__(encoder, matcher, compare_words, l2, fine_tune)
        self.num_epochs = num_epochs
        self.patience = patience
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.class_weight = class_weight

    def checked_parameters(self) -> dict[str, Any]:
        """See `PairEstimator`."""
        parameters = super().checked_parameters()
        given = self.class_weight
        if isinstance(given, Mapping):
            labels = checked_targets(list(given), len(given), numeric=False).tolist()
            numbers = checked_targets(list(given.values()), len(given), numeric=True).tolist()
            parameters["class_weight"] = dict(zip(labels, numbers))
            wrong = not all(1e-9 <= number <= 1e9 for number in numbers)
        else:
            wrong = given is not None and not (isinstance(given, str) and given == "balanced")
        if wrong:
            raise ValueError(
                "class_weight must be 'balanced', None or a dictionary of labels and numbers from "
                f"1e-9 to 1e9; got {given!r:.50}"
            )
        return parameters

    def predict_proba(self, X: Any) -> Array:
        """The probabilities (N, C) of the labels `classes_` for N pairs."""
        probabilities: Array = softmax(self._outputs(X), axis=1)
        return probabilities

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy on N pairs and their labels."""
        pairs, labels = self._checked(X, y)
        check_is_fitted(self)
        unknown = labels[~numpy.isin(labels, self.classes_)].tolist()
        if unknown:
            warnings.warn(
                f"{len(unknown)} of {len(labels)} pairs have labels that fit has not seen, such as "
                f"{unknown[0]!r:.50}; they count as errors",
                stacklevel=2,
            )
        return float(super().score(pairs, labels, sample_weight))

    def predict(self, X: Any) -> Array:
        """The most probable labels (N,) of N pairs."""
        best = self._outputs(X).argmax(axis=1)
        labels: Array = self.classes_[best]
        return labels

    def _targets(self, values: Array, weights: Array) -> tuple[Array, Array]:
        self.classes_, targets = numpy.unique(values, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"all pairs have the label {values.tolist()[0]!r}; a classifier needs at least two "
                "labels"
            )
        if self.class_weight == "balanced":  # by weights: pairs of weight 2 count twice
            by_label = 1 / numpy.bincount(targets, weights)
        else:
            by_label = compute_class_weight(self.class_weight, classes=self.classes_, y=values)
        return targets, weights * by_label[targets]


class PairRegressor(RegressorMixin, PairEstimator):  # type: ignore[misc]
    """Learns scores of pairs of sentences, such as their similarity.

        regressor = PairRegressor().fit([("A man sleeps.", "A man is asleep."), ...], scores)
        regressor.predict([("A dog runs.", "An animal is running.")])

    It is an estimator of scikit-learn: a ridge regression, otherwise as `PairClassifier`. With
    `fine_tune`, the scores of predictions lie between the lowest and the highest one in `fit`.

    The parameters are those of `PairEstimator`.
    """

    _numeric = True

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination, R^2, on N pairs and their scores."""
        return float(super().score(*self._checked(X, y), sample_weight))

    def predict(self, X: Any) -> Array:
        """The scores (N,) of N pairs."""
        scores: Array = self._outputs(X)[:, 0]
        return scores


def _checked_weights(sample_weight: Any, count: int) -> Array:
    """The weights (N,) of `count` pairs, by default 1."""
    weights = numpy.ones(count) if sample_weight is None else numpy.asarray(sample_weight, float)
    if weights.shape != (count,):
        raise ValueError(f"expected {count} numbers as sample_weight; got {weights.shape}")
    right = (weights == 0) | ((weights >= 1e-9) & (weights <= 1e9))
    if not right.all() or not weights.any():
        position = right.argmin()
        raise ValueError(
            "sample_weight must have numbers from 1e-9 to 1e9, or 0 for some pairs; the one of "
            f"pair {position} is {weights[position]}"
        )
    return weights
