"""The base class of the estimators of labels and of scores."""

import copy
import os
from itertools import compress
from pathlib import Path
from typing import Any, Optional, TypeVar, Union

import numpy
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from allennlp_sentmatch.corpora.sentence_encoder import (
    ALLENNLP,
    EncoderLike,
    SentenceEncoder,
    check_installed,
)
from allennlp_sentmatch.corpora.word_comparison import (
    WORD_ORDERS,
    num_features,
)
from allennlp_sentmatch.estimators import estimator_folder
from allennlp_sentmatch.estimators.fine_tuning import NUMBERS, FineTuning
from allennlp_sentmatch.estimators.groups import checked_groups, group_equal, joined_groups
from allennlp_sentmatch.estimators.heads import (
    LINEAR_MATCHERS,
    SYMMETRIC,
    TRAINED_MATCHERS,
    Head,
    LinearHead,
    pair_inputs,
)
from allennlp_sentmatch.estimators.kept_encoder import KeepsEncoder
from allennlp_sentmatch.estimators.learning import Examples, Learner, LinearLearning
from allennlp_sentmatch.estimators.linear import Array
from allennlp_sentmatch.estimators.pairs import Pairs, checked_pairs, checked_targets
from allennlp_sentmatch.estimators.settings import POSITIVE, TRUTH, Numbers, checked_numbers
from allennlp_sentmatch.estimators.thresholds import HeldOut
from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.files.messages import did_you_mean
from allennlp_sentmatch.files.texts import Sentences, is_blank, noting, noting_pairs
from allennlp_sentmatch.nn.checks import check_names
from allennlp_sentmatch.standalone import StandaloneEncoder

Self = TypeVar("Self", bound="PairEstimator")

WordWeights = list[tuple[str, float]]

PARAMETERS = {
    "compare_words": TRUTH._replace(form="True, False or None"),
    "l2": POSITIVE._replace(form="a number above 0, or None"),
    "random_state": Numbers(int, -1, 2**32, "an integer from 0 to 4294967295, or None"),
}

HEADER = ("type", "parameters", "classes", "feature_names", "head")
"""The settings that `save` writes beside the tensors and the encoder."""

BLOCK_SIZE = 4096  # the number of pairs whose features are in memory in a prediction


class PairEstimator(KeepsEncoder):
    """The parameters and methods that `PairClassifier` and `PairRegressor` share.

    # Parameters

    encoder : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
        A `SentenceEncoder`, or what its constructor takes; by default this package's encoder.
    matcher : `str`, optional (default = `"heuristic"`)
        The function from the vectors of two sentences to features of the pair: "heuristic",
        "heuristic_difference", "symmetric" (for pairs whose order does not matter),
        "sum_difference" or "concat"; "cosine" is one feature, for which a few dozen labels are
        enough. Fine-tuning takes all but "cosine", and those that learn: "elbis", "highway", "mlb"
        and "mfb".
    compare_words : `bool`, optional (default = `None`)
        Whether to add the cosine, the cosines of the first 16, 32, 64 and so on dimensions, and the
        features of the words: those of `compare_words`, which see negation and numbers and are for
        English, and the encoder's `word_coverage`, where it has vectors of words. By default, all
        matchers but "cosine" do. Fine-tuning does not.
    l2 : `float`, optional (default = `None`)
        The penalty l2 / 2 * ||W||^2 beside the mean loss of an example, for standardized features.
        By default, cross-validation chooses it; it is 0.1 where fewer than two labels have two
        pairs. Fine-tuning does not use it.
    head : `FineTuning`, optional (default = `None`)
        What learns from the vectors. By default, it is a linear model. `FineTuning(...)` also
        trains the encoder; its settings are `head__num_epochs` and so on in a search.
    random_state : `int`, optional (default = `0`)
        The seed of the folds, and of fine-tuning; with `None`, another one in each fit.
    """

    _numeric: bool

    def __init__(
        self,
        encoder: EncoderLike = None,
        *,
        matcher: str = "heuristic",
        compare_words: Optional[bool] = None,
        l2: Optional[float] = None,
        head: Optional[FineTuning] = None,
        random_state: Optional[int] = 0,
    ) -> None:
        self.encoder = encoder
        self.matcher = matcher
        self.compare_words = compare_words
        self.l2 = l2
        self.head = head
        self.random_state = random_state

    def set_params(self: Self, **parameters: Any) -> Self:
        """Set parameters, and those of `head` as `head__num_epochs` and so on; see scikit-learn."""
        head = parameters.get("head", self.head)
        for name in parameters:
            if name.startswith("head__") and not head:
                raise TypeError(f"no head to set {name}; set head=FineTuning() first")
        super().set_params(**parameters)
        return self

    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from pairs X, as `checked_pairs` takes them, and their labels or scores y.

        A pair with the weight 2 in `sample_weight` (N,) counts as two equal ones; with 0, it is
        left out. Fine-tuning takes no weights. Wherever pairs are held out, equal pairs are held
        out together, in either order of their sentences, and so are pairs of the same group in
        `groups` (N,), strings or numbers, such as the document or the person that they come from.
        After an error, the estimator is as it was before.

        # Raises

        `TypeError` or `ValueError`, naming the pair or the parameter.
        """
        parameters = self._checked_parameters()
        if self.head is not None and (sample_weight is not None or parameters.get("class_weight")):
            raise ValueError("fine-tuning takes no sample_weight and no class_weight")
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        fitted = copy.copy(self)
        fitted.__dict__ = {**kept, **parameters}
        fitted._fit(X, y, sample_weight, groups)
        learned = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        self.__dict__ = {**kept, **learned}
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Set the attributes of a new estimator, whose parameters have been checked."""
        pairs = checked_pairs(X)
        if pairs.names is not None:
            self.feature_names_in_ = numpy.array(pairs.names, dtype=object)
        examples = self._examples(pairs, y, sample_weight, groups)
        self.encoder_ = SentenceEncoder(self.encoder)
        with noting_pairs(examples.first, examples.second):
            learned = self._learner().learn(
                self.encoder_, self.matcher, examples, self.random_state
            )
            self.encoder_, self.head_ = learned.encoder, learned.head
            if learned.held_out is not None:
                self.held_out_ = learned.held_out
            if learned.l2 is not None:
                self.l2_ = learned.l2
            self._outputs([(examples.first[0], examples.second[0])])

    def _examples(self, pairs: Pairs, y: Any, sample_weight: Any, groups: Any) -> Examples:
        """Return what is to be learned of the pairs that have a weight, and count them."""
        values = checked_targets(y, len(pairs.first), self._numeric)
        counts = _checked_weights(sample_weight, len(values))
        given_groups = checked_groups(groups, len(values))
        kept = counts > 0
        first, second = (Sentences(compress(texts, kept)) for texts in pairs[:2])
        values, counts = values[kept], counts[kept]
        equal = group_equal(zip(first, second))
        self.n_samples_fit_ = int(equal.max()) + 1
        joined = equal
        if given_groups is not None:
            joined = joined_groups(equal, given_groups[kept])
        targets, weights = self._targets(values, counts)
        return Examples(first, second, targets, weights, counts, equal, joined)

    def _learner(self) -> Learner:
        """Return what learns a head, by the parameters."""
        if self.head is not None:
            return self.head
        return LinearLearning(self.compare_words, self.l2)

    def explain(self, pair: tuple[str, str]) -> tuple[WordWeights, WordWeights]:
        """Explain a prediction by the words that decide it.

        A word's weight is how much the probability of the predicted label, or the score, falls when
        the word is left out; it is below 0 where that rises. The only word of a sentence cannot be
        left out and has the weight 0.

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
        """Write the fitted estimator to a folder of tensors and JSON, which `load` reads.

        The encoder of this package is not written. Encoders of other packages and of archives are
        not written either: `load` takes them.
        """
        check_is_fitted(self)
        parameters = self._checked_parameters()
        if self.head is not None:
            parameters["head"] = parameters["head"].get_params()
        if isinstance(parameters.get("class_weight"), dict):  # its labels may be numbers
            parameters["class_weight"] = list(parameters["class_weight"].items())
        head, names = self.head_, getattr(self, "feature_names_in_", None)
        is_tuned = not isinstance(head, LinearHead)
        header = {
            "type": type(self).__name__,
            "parameters": parameters,
            "classes": None if self._numeric else self.classes_.tolist(),
            "feature_names": None if names is None else names.tolist(),
            "head": {"fine_tuned": is_tuned, "matcher": head.matcher, "words": head.words},
        }
        with noting(()):
            estimator_folder.write_folder(
                Path(folder), header, head.tensors(), self.encoder_, self._figures()
            )

    def _figures(self) -> dict[str, Any]:
        """Return the figures of the fit for people; a loaded estimator has none."""
        figures = {"pairs fitted on": getattr(self, "n_samples_fit_", None)}
        held_out: Optional[HeldOut] = getattr(self, "held_out_", None)
        if held_out is not None:
            accuracy, interval = held_out.accuracy()
            figures["accuracy in cross-validation"] = round(accuracy, 4)
            figures["its 95 % interval"] = [round(end, 4) for end in interval]
            for kind, count in held_out.counts().items():
                figures[f"{kind} in cross-validation"] = count
        return figures

    @classmethod
    def load(
        cls: type[Self], folder: Union[str, "os.PathLike[str]"], encoder: EncoderLike = None
    ) -> Self:
        """Read an estimator that `save` has written. Nothing in the folder is run.

        # Parameters

        folder : `Union[str, os.PathLike]`
        encoder : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
            The encoder, where it was not written.

        # Raises

        `ValueError` for whatever is wrong with the folder, naming the file, and for another encoder
        than the estimator was fitted with.
        """
        with noting(()):
            header, tensors, found = estimator_folder.read_folder(Path(folder), encoder)
            with errors_name(Path(folder) / estimator_folder.HEADER):
                estimator = cls._from_header(header, found)
            with errors_name(Path(folder) / estimator_folder.TENSORS):
                estimator.head_.load(tensors)
                estimator._outputs([estimator_folder.PROBE[:2]])
        return estimator

    @classmethod
    def _from_header(cls: type[Self], header: dict[str, Any], encoder: SentenceEncoder) -> Self:
        """A fitted estimator, whose head has yet to load its tensors."""
        check_names("setting", header, ("format", *HEADER))
        kind, parameters, classes, names, head = (header[name] for name in HEADER)
        if kind != cls.__name__:
            raise ValueError(f"this is a {kind!r}, not a {cls.__name__}")
        if not isinstance(parameters, dict) or not isinstance(head, dict):
            raise ValueError("expected an object as parameters and as head")
        check_names("parameter", parameters, cls().get_params(deep=False).keys() - {"encoder"})
        if isinstance(parameters["head"], dict):
            check_names("setting of fine-tuning", parameters["head"], NUMBERS)
            parameters["head"] = FineTuning(**parameters["head"])
        if isinstance(parameters.get("class_weight"), list):
            parameters["class_weight"] = dict(parameters["class_weight"])
        estimator = cls(None if encoder.is_default else encoder, **parameters)
        estimator._checked_parameters()
        estimator.encoder_ = encoder
        if names is not None:
            if not isinstance(names, list) or [type(name) for name in names] != [str, str]:
                raise ValueError("feature_names must be a list of two strings, or null")
            estimator.feature_names_in_ = numpy.array(names, dtype=object)
        if cls._numeric != (classes is None) or not isinstance(classes, (list, type(None))):
            raise ValueError("expected a list of classes of a PairClassifier, and null otherwise")
        if classes is not None:
            estimator.classes_ = checked_targets(classes, len(classes), numeric=False)
            different = numpy.unique(estimator.classes_).tolist()
            if different != estimator.classes_.tolist() or len(classes) < 2:
                raise ValueError("expected at least two different classes, which are sorted")
        estimator.head_ = _new_head(head, encoder, estimator._num_outputs)
        return estimator

    def _checked_parameters(self) -> dict[str, Any]:
        """All parameters but the encoder, as Python's own types.

        An impossible one is a `ValueError` that names it.
        """
        matcher, head = self.matcher, self.head
        parameters: dict[str, Any] = self.get_params(deep=False)
        del parameters["encoder"]
        parameters |= checked_numbers(self, PARAMETERS)
        if head is not None and not isinstance(head, FineTuning):
            raise ValueError(f"head must be FineTuning(...) or None; got {head!r:.50}")
        if not isinstance(matcher, str) or not (head is not None or matcher in LINEAR_MATCHERS):
            known = [*LINEAR_MATCHERS, *TRAINED_MATCHERS]
            meant = did_you_mean(matcher, known) if isinstance(matcher, str) else ""
            raise ValueError(
                f"matcher must be one of {', '.join(LINEAR_MATCHERS)}, or with FineTuning() one of "
                f"{', '.join(TRAINED_MATCHERS)}; got {matcher!r:.50}{meant}"
            )
        own = {"matcher": str(matcher), "head": None if head is None else head.checked()}
        return parameters | own

    @property
    def _num_outputs(self) -> int:
        return 1 if self._numeric else len(self.classes_)

    def _pairs(self, X: Any) -> Pairs:
        """N pairs, whose columns have the same names as in `fit`."""
        return checked_pairs(X, getattr(self, "feature_names_in_", None))

    def _checked(self, X: Any, y: Any) -> tuple[list[tuple[str, str]], Array]:
        """N pairs, and their labels or scores (N,)."""
        pairs = list(zip(*self._pairs(X)[:2]))
        return pairs, checked_targets(y, len(pairs), self._numeric)

    def _targets(self, values: Array, weights: Array) -> tuple[Array, Array]:
        """Set what all labels or scores (N,) decide; return them, and their weights, as learned."""
        return values, weights

    def _outputs(self, X: Any) -> Array:
        """The logits (N, C) of pairs, or their scores (N, 1)."""
        check_is_fitted(self)
        first, second, _ = self._pairs(X)
        outputs = []
        with noting_pairs(first, second):
            for start in range(0, len(first), BLOCK_SIZE):
                block = slice(start, start + BLOCK_SIZE)
                inputs = pair_inputs(self.encoder_, self.head_.words, first[block], second[block])
                outputs.append(self.head_.outputs(*inputs))
        joined: Array = numpy.concatenate(outputs)
        finite = numpy.isfinite(joined).all(axis=1)
        if not finite.all():
            raise ValueError(
                f"the output for pair {finite.argmin()} is not finite: "
                "scores or weights are too large"
            )
        return joined


def _new_head(settings: dict[str, Any], encoder: SentenceEncoder, num_outputs: int) -> Head:
    """A head without its tensors, from what `save` wrote of it."""
    check_names("setting of the head", settings, ("fine_tuned", "matcher", "words"))
    matcher, words = settings["matcher"], settings["words"]
    if settings["fine_tuned"]:
        if not isinstance(encoder.network, StandaloneEncoder):
            raise ValueError("a fine-tuned estimator needs the encoder in its folder")
        check_installed("a fine-tuned estimator needs", *ALLENNLP)
        from allennlp_sentmatch.estimators.fine_tuned_head import FineTunedHead

        return FineTunedHead(encoder.network, num_outputs, matcher)
    is_possible = words != "ordered" or matcher not in SYMMETRIC
    if matcher not in LINEAR_MATCHERS or words not in WORD_ORDERS or not is_possible:
        raise ValueError(
            f"the head's matcher must be one of {', '.join(LINEAR_MATCHERS)}, and its words "
            "ordered, unordered or null, but not ordered with a symmetric matcher"
        )
    num_words = num_features(encoder)
    return LinearHead(encoder.vector_size, num_outputs, matcher, words, num_words)


def _checked_weights(sample_weight: Any, count: int) -> Array:
    """The weights (N,) of `count` pairs, by default 1."""
    if sample_weight is None:
        return numpy.ones(count)
    with errors_name("sample_weight"):
        weights = numpy.asarray(sample_weight, float)
    if weights.shape != (count,):
        raise ValueError(f"expected {count} numbers as sample_weight; got {weights.shape}")
    right = (weights == 0) | ((weights >= 1e-9) & (weights <= 1e9))
    if not right.all():
        position = right.argmin()
        raise ValueError(
            "sample_weight must have numbers from 1e-9 to 1e9, or 0 for some pairs; the one of "
            f"pair {position} is {weights[position]}"
        )
    if not weights.any():
        raise ValueError("all pairs have the sample_weight 0; give some of them a number above 0")
    return weights
