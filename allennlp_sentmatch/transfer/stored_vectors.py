"""Sentence vectors from a file, made by any program."""

import os
from collections.abc import Sequence
from typing import Union

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.tables import read_sentences
from allennlp_sentmatch.data.files.vectors import check_sentences, map_vectors
from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.predictors.sentence_encoder import FloatArray


class StoredVectors:
    """Looks up the vectors of sentences.

    # Parameters

    sentences : `Sequence[str]`
    vectors : `numpy.ndarray`
        (len(sentences), E)

    # Raises

    `ConfigurationError` for an array of another shape.
    """

    def __init__(self, sentences: Sequence[str], vectors: FloatArray) -> None:
        if vectors.ndim != 2 or len(vectors) != len(sentences):
            raise ConfigurationError(
                f"there are {len(sentences)} sentences, but the vectors have the shape "
                f"{vectors.shape}; expected a row for each sentence"
            )
        self._rows = {sentence: row for row, sentence in enumerate(sentences)}
        self._vectors = vectors

    @classmethod
    def from_files(
        cls,
        sentences_file: Union[str, "os.PathLike[str]"],
        vectors_file: Union[str, "os.PathLike[str]"],
    ) -> "StoredVectors":
        """The vectors of a text file's sentences, one per line, in the rows of a `.npy` file.

        # Raises

        `ConfigurationError` for a file that cannot be read as such, and for vectors that `allennlp
        encode` made of other sentences.
        """
        sentences = list(read_sentences(sentences_file))
        vectors = map_vectors(vectors_file)
        stored = cls(sentences, vectors)
        check_sentences(sentences, vectors_file)
        return stored

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        """The vectors (N, E) of N sentences.

        # Raises

        `ConfigurationError` for a sentence without a vector.
        """
        missing = [sentence for sentence in sentences if sentence not in self._rows]
        if missing:
            raise ConfigurationError(
                f"{len(missing)} of {len(sentences)} sentences have no vector, for instance "
                f"{shorten(missing[0])}"
            )
        vectors: FloatArray = self._vectors[[self._rows[sentence] for sentence in sentences]]
        return vectors
