"""The base class of the estimators of labels and of scores."""

import copy
from typing import Any, Optional, TypeVar

import numpy
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.corpora.encoder_sources import EncoderLike
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.estimators.estimator_folder import load_estimator, save_estimator
from allennlp_sentmatch.estimators.examples import checked_examples, checked_weights
from allennlp_sentmatch.estimators.explanation import (
    WordWeights,
    without_each_word,
    word_weights,
)
from allennlp_sentmatch.estimators.fine_tuning import FineTuning
from allennlp_sentmatch.estimators.heads import (
    LINEAR_MATCHERS,
    TRAINED_MATCHERS,
    head_outputs,
)
from allennlp_sentmatch.estimators.kept_encoder import KeepsEncoder, TunedEncoder
from allennlp_sentmatch.estimators.learning import learn_linear
from allennlp_sentmatch.estimators.pairs import Pairs, checked_pairs, checked_targets
from allennlp_sentmatch.estimators.settings import read_attributes
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.messages import did_you_mean
from allennlp_sentmatch.files.progress import showing_progress
from allennlp_sentmatch.files.texts import noting_pairs
from allennlp_sentmatch.nn.checks import POSITIVE, SEED, TRUTH, optional

Self = TypeVar("Self", bound="PairEstimator")

PARAMETERS = {
    "compare_words": optional(TRUTH),
    "l2": optional(POSITIVE),
    "random_state": optional(SEED),
}
"""The parameters, except the encoder, the matcher and the head, with what they may be."""


class PairEstimator(KeepsEncoder):
    """The parameters and methods that `PairClassifier` and `PairRegressor` share.

    # Parameters

    encoder : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
        A `SentenceEncoder`, or what its constructor takes; by default this package's encoder.
    matcher : `str`, optional (default = `"heuristic"`)
        The function from the vectors of two sentences to features of the pair: "heuristic",
        "heuristic_difference", "symmetric" (for pairs whose order does not matter),
        "sum_difference" or "concat"; "cosine" is one feature, for which a few dozen labels are
        enough. Fine-tuning takes all except "cosine", and also matchers with parameters: "elbis",
        "highway", "mlb" and "mfb".
    compare_words : `bool`, optional (default = `None`)
        Whether to add the cosine, the cosines of the first 16, 32, 64 and so on dimensions, and the
        features of the words: for English, `compare_words`, which sees negation and numbers, and
        the encoder's `word_coverage`, if it has vectors of words. By default, they are
        added for all matchers except "cosine", but not in fine-tuning.
    l2 : `float`, optional (default = `None`)
        The penalty l2 / 2 * ||W||^2, added to the mean loss of an example, for standardized
        features. The cosine is multiplied by 30, and the other features of `compare_words` by 10.
        By default, cross-validation chooses it, and whether to take the cosine without the other
        features; it is 0.1 if fewer than two labels have two pairs. Fine-tuning does not use it.
    head : `FineTuning`, optional (default = `None`)
        The model above the vectors, by default a linear one. `FineTuning(...)` also
        trains the encoder; its settings are `head__num_epochs` and so on in a search.
    random_state : `int`, optional (default = `0`)
        The seed of the folds and of fine-tuning; `None` for a different one in each fit.
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
        """Set parameters, and the head's as `head__num_epochs` and so on; see scikit-learn."""
        head = parameters.get("head", self.head)
        for name in parameters:
            if name.startswith("head__") and not head:
                raise TypeError(f"no head to set {name}; set head=FineTuning() first")
        super().set_params(**parameters)
        return self

    def fit(
        self: Self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        show_progress_bar: Optional[bool] = None,
    ) -> Self:
        """Learn from pairs X, as `checked_pairs` takes them, and their labels or scores y.

        A pair with the weight 2 in `sample_weight` (N,) counts as two equal ones; with 0, it is
        left out. Fine-tuning takes no weights. Whenever pairs are held out, equal pairs (in either
        order of their sentences) are held out together, and so are pairs of the same group in
        `groups` (N,), strings or numbers, such as the document or the person from which they come.
        By default, a bar of progress appears after some seconds of encoding on a terminal. After an
        error, the estimator is as it was before.

        # Raises

        `TypeError` or `ValueError`, naming the pair or the parameter.
        """
        parameters = self._checked_parameters()
        if self.head is not None and (sample_weight is not None or parameters.get("class_weight")):
            raise ValueError("fine-tuning takes no sample_weight and no class_weight")
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        # A copy learns, so that an error leaves this estimator as it was.
        fitted = copy.copy(self)
        fitted.__dict__ = {**kept, **parameters, "fit_parameters_": parameters}
        with showing_progress(show_progress_bar):
            fitted._fit(X, y, sample_weight, groups)
        learned = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        self.__dict__ = {**kept, **learned}
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Set the attributes of a new estimator, whose parameters have been checked.

        Raise `TypeError` or `ValueError` for invalid pairs, labels, weights or groups, and for an
        encoder that was loaded after fine-tuning.
        """
        if isinstance(self.encoder, TunedEncoder):
            raise ValueError(
                "this estimator was loaded with its fine-tuned encoder, which may have seen the "
                "labels of these pairs; set_params(encoder=None) begins with the encoder of the "
                "package, and set_params(encoder=estimator.encoder_) tunes this one further"
            )
        pairs = checked_pairs(X)
        if pairs.names is not None:
            self.feature_names_in_ = numpy.array(pairs.names, dtype=object)
        examples = checked_examples(pairs, y, sample_weight, groups, self._numeric)
        self.n_samples_fit_ = examples.num_different()
        targets, weights = self._targets(examples.targets, examples.counts)
        examples = examples._replace(targets=targets, weights=weights)
        if not self._numeric:
            examples = examples._replace(labels=self.classes_)
        encoder = SentenceEncoder(self.encoder)
        with noting_pairs(examples.first, examples.second):
            if self.head is None:
                learned = learn_linear(
                    encoder,
                    self.matcher,
                    self.compare_words,
                    examples,
                    self.l2,
                    self.random_state,
                )
            else:
                learned = self.head.learn(encoder, self.matcher, examples, self.random_state)
            self.encoder_ = learned.encoder
            self.head_ = learned.head
            if learned.held_out is not None:
                self.held_out_ = learned.held_out
            if learned.l2 is not None:
                self.l2_ = learned.l2
            self._outputs([(examples.first[0], examples.second[0])])

    def explain(self, pair: tuple[str, str]) -> tuple[WordWeights, WordWeights]:
        """Explain a prediction by the words that decide it.

        A word's weight is how much the probability of the predicted label, or the score, falls when
        the word is left out; it is below 0 if that rises. The only word of a sentence cannot be
        left out and has the weight 0.

        # Returns

        `tuple[list[tuple[str, float]], list[tuple[str, float]]]`
            The space-separated words of the first and of the second sentence, with their weights.

        # Raises

        `NotFittedError` before `fit`, and `TypeError` or `ValueError` for anything but a pair.
        """
        first, second, _ = self._pairs([pair])
        sides = [first[0].split(), second[0].split()]
        variants = without_each_word(sides)
        whole_first, whole_second = variants[0]
        with noting_pairs([whole_first], [whole_second]):
            outputs = self._outputs(variants)
        if not self._numeric:
            outputs = softmax(outputs, axis=1)[:, [outputs[0].argmax()]]
        return word_weights(sides, outputs[:, 0])

    def save(self, folder: AnyPath) -> None:
        """Write the fitted estimator to a folder of tensors and JSON, which `load` reads.

        Its parameters are the ones in `fit`, even if `set_params` has changed them since.
        The encoder of this package is not written, unless you have trained it. Encoders of other
        packages and of archives are not written either: `load` takes them.

        # Raises

        `NotFittedError` before `fit`, `ValueError` if the folder is not empty or the numbers of the
        encoder have a format that cannot be saved, and `OSError` if it cannot be written.
        """
        check_is_fitted(self)
        save_estimator(self, folder)

    @classmethod
    def load(cls: type[Self], folder: AnyPath, encoder: EncoderLike = None) -> Self:
        """Read an estimator that `save` has written. Nothing in the folder is run.

        After fine-tuning, only the tuned encoder is in the folder: a new `fit` is refused until
        `set_params` names the encoder to begin with.

        # Parameters

        folder : `Union[str, os.PathLike]`
        encoder : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
            The encoder, if it was not written.

        # Raises

        `ValueError` for anything wrong with the folder, naming the file, and for a different
        encoder than the estimator was fitted with.
        """
        return load_estimator(cls, folder, encoder)

    def _checked_parameters(self) -> dict[str, Any]:
        """Return all parameters but the encoder, as Python's own types.

        Raise a `ValueError` that names the first invalid one.
        """
        parameters: dict[str, Any] = self.get_params(deep=False)
        del parameters["encoder"]
        parameters |= read_attributes(self, PARAMETERS)
        if self.head is None:
            _check_linear_matcher(self.matcher)
        elif not isinstance(self.head, FineTuning):
            raise ValueError(f"head must be FineTuning(...) or None; got {self.head!r:.50}")
        parameters["matcher"] = str(self.matcher)
        parameters["head"] = None if self.head is None else self.head.checked()
        return parameters

    def _pairs(self, X: Any) -> Pairs:
        """Return N pairs, whose columns must have the same names as in `fit`."""
        return checked_pairs(X, getattr(self, "feature_names_in_", None))

    def _checked(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[list[tuple[str, str]], Array, Array]:
        """Return N pairs, their labels or scores (N,), and their weights (N,), by default 1."""
        first, second, _ = self._pairs(X)
        pairs = list(zip(first, second))
        targets = checked_targets(y, len(pairs), self._numeric)
        return pairs, targets, checked_weights(sample_weight, len(pairs))

    def _targets(self, values: Array, weights: Array) -> tuple[Array, Array]:
        """Set the attributes that depend on the labels or scores (N,).

        Return the targets (N,) to learn, and their weights (N,) in the loss.
        """
        return values, weights

    def _outputs(self, X: Any) -> Array:
        """Return the logits (N, C) of pairs, or their scores (N, 1).

        Warnings name the pairs with a text that is cut or has no known word. Raise `NotFittedError`
        before `fit`.
        """
        check_is_fitted(self)
        first, second, _ = self._pairs(X)
        with noting_pairs(first, second):
            return head_outputs(self.head_, self.encoder_, first, second)


def _check_linear_matcher(matcher: Any) -> None:
    """Raise a `ValueError` unless a linear head has this matcher."""
    if isinstance(matcher, str) and matcher in LINEAR_MATCHERS:
        return
    known = [*LINEAR_MATCHERS, *TRAINED_MATCHERS]
    is_unknown = isinstance(matcher, str) and matcher not in known
    meant = did_you_mean(matcher, known) if is_unknown else ""
    raise ValueError(
        f"matcher must be one of {', '.join(LINEAR_MATCHERS)}, or with FineTuning() one of "
        f"{', '.join(TRAINED_MATCHERS)}; got {matcher!r:.50}{meant}"
    )
