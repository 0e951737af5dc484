"""scikit-learn's interface: an estimator of labels for pairs of sentences."""

import warnings
from collections.abc import Mapping
from typing import Any, Optional, Union

import numpy
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.corpora.encoder_sources import EncoderLike
from allennlp_sentmatch.estimators.fine_tuning import FineTuning
from allennlp_sentmatch.estimators.pair_estimator import PairEstimator
from allennlp_sentmatch.estimators.pairs import checked_targets
from allennlp_sentmatch.estimators.thresholds import HeldOut, Threshold, choose_threshold
from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.nn.checks import SHARE

CLASS_WEIGHT_FORM = (
    "class_weight must be 'balanced', None or a dictionary of labels and numbers from 1e-9 to 1e9"
)


class PairClassifier(ClassifierMixin, PairEstimator):  # type: ignore[misc]
    """Learns labels of pairs of sentences.

        pairs = [("How do I cook rice?", "Where does rice grow?"), ...]
        classifier = PairClassifier().fit(pairs, labels)
        classifier.predict_proba([("How do I boil rice?", "How is rice cooked?")])

    It is a scikit-learn estimator: a logistic regression on the features of the matcher, from
    the encoder's vectors at length 1, unless another `head` is given.

    # Parameters

    class_weight : `Union[str, dict]`, optional (default = `None`)
        The weight of each label's pairs: a number above 0 for each label, or "balanced" for labels
        with equal weights, regardless of their numbers of pairs.

    Its base class `PairEstimator` has the other parameters.

    # Attributes

    classes_ : `numpy.ndarray`
        (C,), the labels, sorted.
    """

    _numeric = False

    def __init__(
        self,
        encoder: EncoderLike = None,
        *,
        matcher: str = "heuristic",
        compare_words: Optional[bool] = None,
        l2: Optional[float] = None,
        head: Optional[FineTuning] = None,
        random_state: Optional[int] = 0,
        class_weight: Union[str, Mapping[Any, float], None] = None,
    ) -> None:
        super().__init__(
            encoder,
            matcher=matcher,
            compare_words=compare_words,
            l2=l2,
            head=head,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _checked_parameters(self) -> dict[str, Any]:
        """Return all parameters but the encoder; see `PairEstimator`."""
        parameters = super()._checked_parameters()
        given = self.class_weight
        if isinstance(given, Mapping):
            parameters["class_weight"] = _checked_class_weight(given)
        elif given is not None and not (isinstance(given, str) and given == "balanced"):
            raise ValueError(f"{CLASS_WEIGHT_FORM}; got {given!r:.50}")
        return parameters

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities (N, C) of the labels `classes_` for N pairs."""
        probabilities: Array = softmax(self._outputs(X), axis=1)
        return probabilities

    def predict_log_proba(self, X: Any) -> Array:
        """Return the natural logarithms (N, C) of the probabilities of `classes_` for N pairs."""
        logarithms: Array = log_softmax(self._outputs(X), axis=1)
        return logarithms

    def decision_function(self, X: Any) -> Array:
        """Return the values from which probabilities are computed, as in scikit-learn.

        For two labels, it is the logit (N,) of the second one's probability; for more, the softmax
        of a row of (N, C) gives the probabilities.
        """
        outputs = self._outputs(X)
        if len(self.classes_) > 2:
            return outputs
        logits: Array = outputs[:, 1] - outputs[:, 0]
        return logits

    def threshold(
        self,
        precision: Optional[float] = None,
        recall: Optional[float] = None,
        label: Any = None,
        sure: bool = False,
    ) -> Threshold:
        """Choose the lowest probability of a label at which to act on it.

            chosen = classifier.threshold(precision=0.95)
            found = classifier.predict_proba(pairs)[:, 1] >= chosen.probability

        It is chosen on the pairs that cross-validation held out in `fit`; with 1,000 or more pairs,
        these are a fifth of them. `sample_weight` counts, and `class_weight` does not. Intervals
        count equal pairs, and the pairs of a group in `fit`, as one.

        # Parameters

        precision : `float`, optional (default = `None`)
            Take the threshold with the highest recall among those with at least this precision.
        recall : `float`, optional (default = `None`)
            Take the threshold with the highest precision among those with at least this recall. If
            neither is given, take the threshold with the highest F1.
        label : `Any`, optional (default = `None`)
            One of `classes_`; by default the second of two.
        sure : `bool`, optional (default = `False`)
            Whether the lower end of the interval has to reach the precision or the recall, so that
            new pairs of the same kind will probably reach it, too.

        # Raises

        `ValueError` if no threshold reaches the precision, or none is sure to, stating the highest
        one; and after a `fit` without cross-validation, or after `load`.
        """
        aim, wanted = _checked_aim(precision, recall)
        if not isinstance(sure, bool) or (sure and aim == "f1"):
            raise ValueError(
                f"sure must be True or False, and needs a precision or a recall; got {sure!r:.50}"
            )
        position = self._label_position(label)
        held_out = self._held_out()
        is_right = held_out.targets == position
        if not is_right.any():
            raise ValueError(
                "no pair held out in cross-validation has the label "
                f"{self.classes_.tolist()[position]!r}"
            )
        scores = softmax(held_out.outputs, axis=1)[:, position]
        return choose_threshold(
            scores, is_right, held_out.weights, aim, wanted, held_out.groups, sure
        )

    def _held_out(self) -> HeldOut:
        """Return the predictions of cross-validation; raise `ValueError` if there are none."""
        held_out: Optional[HeldOut] = getattr(self, "held_out_", None)
        if held_out is None:
            raise ValueError(
                "threshold needs the cross-validation of fit, which save does not keep: fit again, "
                "without l2 and without fine-tuning, on at least two different pairs of each of "
                "two labels, which are not of one group"
            )
        return held_out

    def _label_position(self, label: Any) -> int:
        """Return the position of a label in `classes_`, by default the second of two.

        Raise `ValueError` for a label that is not among them.
        """
        check_is_fitted(self)
        classes = self.classes_.tolist()
        if label is None and len(classes) == 2:
            return 1
        if label not in classes:
            raise ValueError(f"label must be one of {classes!r:.200}; got {label!r}")
        return int(classes.index(label))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, from 0 to 1, on N pairs and their labels.

        `sample_weight` (N,) is by default 1, and is checked as in `fit`. A warning says so if there
        are labels that `fit` has not seen.
        """
        pairs, labels, weights = self._checked(X, y, sample_weight)
        check_is_fitted(self)
        unknown = labels[~numpy.isin(labels, self.classes_)].tolist()
        if unknown:
            warnings.warn(
                f"{len(unknown)} of {len(labels)} pairs have labels that fit has not seen, such as "
                f"{unknown[0]!r:.50}; they count as errors",
                stacklevel=2,
            )
        return float(super().score(pairs, labels, weights))

    def predict(self, X: Any) -> Array:
        """Predict the most probable labels (N,) of N pairs."""
        best = self._outputs(X).argmax(axis=1)
        labels: Array = self.classes_[best]
        return labels

    def _targets(self, values: Array, weights: Array) -> tuple[Array, Array]:
        """Set `classes_`; return the labels' indices (N,), and the weights (N,) by `class_weight`.

        Raise `ValueError` for continuous numbers, and for a single label.
        """
        if type_of_target(values) not in ("binary", "multiclass"):
            position = (values % 1 != 0).argmax()
            raise ValueError(
                f"the label of pair {position} is {values[position]:g}: continuous numbers are "
                "scores, which PairRegressor learns; give labels as strings or whole numbers"
            )
        self.classes_, targets = numpy.unique(values, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"all pairs have the label {values.tolist()[0]!r}; a classifier needs at least two "
                "labels"
            )
        by_label = numpy.ones(len(self.classes_))
        if isinstance(self.class_weight, Mapping):
            by_label = _weights_of(self.classes_.tolist(), self.class_weight)
        elif self.class_weight == "balanced":  # weighted: pairs of weight 2 count twice
            by_label = 1 / numpy.bincount(targets, weights)
        return targets, weights * by_label[targets]


def _checked_class_weight(given: Mapping[Any, Any]) -> dict[Any, float]:
    """Return the labels and their weights as Python's own types.

    Raise `ValueError` for an invalid label or weight.
    """
    with errors_name("class_weight"):
        labels = checked_targets(list(given), len(given), numeric=False).tolist()
    checked = {}
    for label, weight in zip(labels, given.values()):
        number = weight.item() if isinstance(weight, numpy.generic) else weight
        if not isinstance(number, (int, float)) or not 1e-9 <= number <= 1e9:
            raise ValueError(f"{CLASS_WEIGHT_FORM}; the weight of {label!r:.50} is {weight!r:.50}")
        checked[label] = float(number)
    return checked


def _weights_of(labels: list[Any], given: Mapping[Any, float]) -> Array:
    """Return the weights (C,) of C labels, 1 for the labels that are not in `given`.

    `given` may also have labels that occur only in other parts of the data, if it has all of these.
    Otherwise raise `ValueError`. scikit-learn 1.9 would look for the number 1 instead of the text
    "1".
    """
    missing = [label for label in labels if label not in given]
    unknown = [label for label in given if label not in labels]
    if missing and unknown:
        raise ValueError(
            f"class_weight has the label {unknown[0]!r:.50}, which no pair has, and lacks the "
            f"label {missing[0]!r:.50}"
        )
    return numpy.array([given.get(label, 1.0) for label in labels])


def _checked_aim(precision: Optional[float], recall: Optional[float]) -> tuple[str, float]:
    """Return the criterion for a threshold, and the figure that it has to reach.

    Raise `ValueError` for both a precision and a recall, and for a number that is not above 0 and
    at most 1.
    """
    aims = {"precision": precision, "recall": recall}
    given = [(aim, wanted) for aim, wanted in aims.items() if wanted is not None]
    if not given:
        return "f1", 0.0
    if len(given) > 1:
        raise ValueError("threshold takes a precision or a recall, not both")
    aim, wanted = given[0]
    SHARE.check(aim, wanted)
    return aim, float(wanted)
