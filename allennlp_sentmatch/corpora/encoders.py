"""What a corpus needs of an encoder."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from allennlp_sentmatch.standalone.encoder import FloatArray

PREDICTED = ("label", "probs_by_label", "score")
"""The names of a prediction for a pair of sentences."""


class BlockEncoder(Protocol):
    """An encoder of one block of sentences after another."""

    @property
    def vector_size(self) -> int:
        """The vectors' width E."""

    def encode_blocks(
        self, blocks: Iterable[list[str]], batch_size: int = 128
    ) -> Iterator[FloatArray]:
        """Yield the vectors (N, E) of each block of N sentences, in order."""


class ClassifiesPairs(Protocol):
    """A fitted classifier of pairs of sentences, such as a `PairClassifier`."""

    classes_: Any

    def predict_proba(self, pairs: Any) -> Any:
        """Return the probabilities (N, C) of the `classes_` for N pairs."""


class PairPredictor(Protocol):
    """A predictor of labels or scores of pairs of sentences, with the names in `PREDICTED`."""

    input_keys: list[tuple[str, ...]]
    reads_pairs: bool

    def predict_batch_json(self, inputs: list[Any]) -> list[Any]:
        """Return a prediction for each pair, an object with the first of the `input_keys`."""
