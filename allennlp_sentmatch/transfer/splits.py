"""A task's examples, as they are divided into training, validation and test sets."""

from typing import NamedTuple, Optional

from allennlp_sentmatch.transfer.logistic_regression import Array


class Examples(NamedTuple):
    """Sentences, or pairs of them, with a label or a score each."""

    #: (N,), each a tuple of one sentence or of two.
    sentences: list[tuple[str, ...]]
    #: (N,), strings or floating-point numbers.
    targets: Array


class Splits(NamedTuple):
    """A task's examples."""

    train: Examples
    #: `None`: the L2 penalty is chosen by cross-validation on the training set.
    validation: Optional[Examples] = None
    #: `None`: the training set is tested by cross-validation.
    test: Optional[Examples] = None

    def sentences(self) -> list[str]:
        """All distinct sentences, in the order in which they occur first."""
        parts = [part for part in (self.train, self.validation, self.test) if part is not None]
        sentences = (sentence for part in parts for row in part.sentences for sentence in row)
        return list(dict.fromkeys(sentences))
