"""Sentences that are searched many times, in memory."""

from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.corpora.vector_arrays import as_array, evenly
from allennlp_sentmatch.corpora.vector_table import VectorTable
from allennlp_sentmatch.files.texts import Sentences, checked_text, noting
from allennlp_sentmatch.nn.checks import check_positive

if TYPE_CHECKING:
    from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder

NUM_SAMPLES = 8  # given vectors that are compared with the encoder's
TOLERANCE = 0.01  # largest difference of a component of unit vectors: processors round differently


class Found(NamedTuple):
    """A sentence that was found for a query."""

    sentence: str
    cosine: float
    """The cosine of its vector and the query's, from -1 to 1."""
    position: int
    """The position among the searched sentences, counted from 0."""


class SentenceCollection:
    """Sentences with their vectors, to be searched for many queries.

        collection = encoder.collection(sentences)
        collection.search("A man is asleep.")

    The vectors are encoded, or checked, once. `SentenceEncoder.collection` makes a collection.

    # Parameters

    encoder : `SentenceEncoder`
    sentences : `list[str]`
        Texts that have been checked.
    vectors : `numpy.ndarray`, optional (default = `None`)
        `encoder.encode_document(sentences)`, which stay as they are: neither copied nor changed.

    # Raises

    `ValueError` for vectors that are not finite, or if one of the few that are compared is not the
    encoder's for its sentence.
    """

    def __init__(
        self,
        encoder: "SentenceEncoder",
        sentences: Sentences,
        vectors: Optional[Any] = None,
    ) -> None:
        self._encoder = encoder
        self._sentences = sentences
        if vectors is None:
            self._table = VectorTable(encoder.encode_document(sentences))
        else:
            given = as_array(vectors, "vectors")
            self._check_shape(given)
            self._table = VectorTable(given)
            self._check_sample()

    def __len__(self) -> int:
        return len(self._sentences)

    def search(self, query: str, *, k: int = 10) -> list[Found]:
        """Find the sentences that are most similar to a query.

        # Parameters

        query : `str`
        k : `int`, optional (default = `10`)
            The largest number of results.

        # Returns

        `list[Found]`
            Named tuples `(sentence, cosine, position)`, the most similar first; ties are in the
            order of their positions.
        """
        check_positive(k=k)
        query = checked_text(query, "the query")
        with noting([query], lambda _: "the query"):
            vector = self._encoder.encode_query(Sentences([query]))[0]
        nearest = self._table.nearest(vector, int(k))
        return [Found(self._sentences[row], cosine, row) for row, cosine in nearest]

    def _check_shape(self, vectors: Array) -> None:
        """Raise `ValueError` unless there is a vector of the encoder's size for each sentence."""
        expected = len(self), self._encoder.vector_size
        if vectors.shape != expected:
            raise ValueError(
                f"expected the vectors of the {len(self)} sentences, {expected}; got "
                f"{vectors.shape}"
            )

    def _check_sample(self) -> None:
        """Raise `ValueError` if a vector is not the encoder's vector of its sentence."""
        rows = evenly(len(self), NUM_SAMPLES)
        sample = Sentences(self._sentences[row] for row in rows)
        encoded = VectorTable(self._encoder.encode_document(sample))
        expected = encoded.normalized(numpy.arange(len(rows)))
        differences = self._table.normalized(rows) - expected
        differs = (numpy.abs(differences) > TOLERANCE).any(axis=1)
        if differs.any():
            raise ValueError(
                f"the vector in row {rows[differs.argmax()]} is not the encoder's for this "
                "sentence; encode the sentences again, by encode_document"
            )
