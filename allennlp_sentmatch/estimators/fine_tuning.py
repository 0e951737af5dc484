"""The settings of fine-tuning, without AllenNLP."""

from typing import Optional

from sklearn.base import BaseEstimator

from allennlp_sentmatch.corpora.encoder_sources import ALLENNLP, check_installed
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.estimators.examples import Examples
from allennlp_sentmatch.estimators.learning import Learned
from allennlp_sentmatch.estimators.settings import read_attributes
from allennlp_sentmatch.nn.checks import POSITIVE, integer, number

_COUNT = integer(least=1, most=10**18)  # NumPy and AllenNLP take 64 bits

NUMBERS = {
    "num_epochs": _COUNT,
    "patience": _COUNT,
    "learning_rate": POSITIVE,
    "batch_size": _COUNT,
    "validation_fraction": number(above=0, below=1),
}


class FineTuning(BaseEstimator):  # type: ignore[misc]
    """Trains the encoder together with a matcher and a classifier, by AllenNLP's trainer.

        PairClassifier(head=FineTuning(num_epochs=3)).fit(pairs, labels)

    The encoder must be one of this package, in a folder or an archive. Early stopping chooses the
    epoch. See docs/python.md for the number of pairs it needs.

    # Parameters

    num_epochs : `int`, optional (default = `10`)
    patience : `int`, optional (default = `2`)
        Stop after this many epochs without a better result on the pairs held out.
    learning_rate : `float`, optional (default = `0.0005`)
    batch_size : `int`, optional (default = `32`)
    validation_fraction : `float`, optional (default = `0.1`)
        The share of the pairs held out to choose the epoch.
    """

    def __init__(
        self,
        *,
        num_epochs: int = 10,
        patience: int = 2,
        learning_rate: float = 0.0005,
        batch_size: int = 32,
        validation_fraction: float = 0.1,
    ) -> None:
        self.num_epochs = num_epochs
        self.patience = patience
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction

    def learn(
        self,
        encoder: SentenceEncoder,
        matcher: str,
        examples: Examples,
        random_state: Optional[int],
    ) -> Learned:
        """Train a copy of the encoder, and a head with a registered `Matcher`.

        The weights of the examples are not used. Raise `ModuleNotFoundError` if AllenNLP is
        missing, `TypeError` for an encoder that cannot be trained, and `ValueError` for one of
        reduced dimensions and for examples that cannot be divided.
        """
        check_installed("fine-tuning needs", *ALLENNLP)
        from allennlp_sentmatch.estimators.fine_tuning_run import fine_tune

        return fine_tune(self, encoder, matcher, examples, random_state)

    def checked(self) -> "FineTuning":
        """Return the same settings as Python's own types; see `read_attributes`."""
        return FineTuning(**read_attributes(self, NUMBERS))
