"""Estimators whose copies in scikit-learn share one encoder."""

import copy
import os
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from allennlp_sentmatch.corpora.encoder_sources import EncoderLike
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder

Self = TypeVar("Self", bound="KeepsEncoder")


class TunedEncoder(SentenceEncoder):
    """The parameter `encoder` of a loaded estimator that was fine-tuned.

    It has seen the labels of its pairs, so that a cross-validation on them would hold out nothing.
    `fit` refuses it: the encoder before fine-tuning is not saved.
    """


class KeepsEncoder(BaseEstimator):  # type: ignore[misc]
    """An estimator with a parameter `encoder`, which scikit-learn's `clone` keeps as it is.

    Encoders are large, fitting changes none of them, and some cannot be copied, since they have a
    lock or a connection.
    """

    encoder: EncoderLike

    def __sklearn_clone__(self: Self) -> Self:
        """Return an unfitted estimator with the same encoder and equal other parameters."""
        without_encoder = copy.copy(self)
        without_encoder.encoder = None
        cloned: Self = BaseEstimator.__sklearn_clone__(without_encoder)
        cloned.encoder = self.encoder
        return cloned

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by their names.

        Versions of scikit-learn before 1.3, which do not know `__sklearn_clone__`, copy what they
        get here. They get a `SentenceEncoder` of an object, whose copy is the same object.
        """
        parameters: dict[str, Any] = super().get_params(deep)
        encoder = parameters["encoder"]
        stays = encoder is None or isinstance(encoder, (str, os.PathLike, SentenceEncoder))
        if not stays and not hasattr(BaseEstimator, "__sklearn_clone__"):
            parameters["encoder"] = SentenceEncoder(encoder)
        return parameters
