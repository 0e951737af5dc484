"""The mean of a sentence's word vectors: the baseline of sentence encoders."""

import os
from collections.abc import Sequence
from typing import Union

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm

from allennlp_sentmatch.data.files.word_vectors import read_word_vectors
from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer
from allennlp_sentmatch.predictors.sentence_encoder import FloatArray


class WordVectorAverage:
    """Averages the vectors of the words that a file of word vectors has.

    A word of spaCy's rules for English is looked up as it is written and, if it is not there, in
    lower case. The vector of a sentence without a known word is zero.

    # Parameters

    vectors : `dict[str, numpy.ndarray]`
        By word, (E,).
    """

    def __init__(self, vectors: dict[str, FloatArray]) -> None:
        self._rows = {word: row for row, word in enumerate(vectors)}
        self._vectors = numpy.stack(list(vectors.values()))
        self._splitter = SpacyBlankTokenizer().splitter()

    @classmethod
    def from_file(cls, file_path: Union[str, "os.PathLike[str]"]) -> "WordVectorAverage":
        """The average of a file's vectors; see
        `allennlp_sentmatch.data.files.word_vectors.read_word_vectors`.

        # Raises

        `ConfigurationError` for a line of another form, naming it.
        """
        vectors: dict[str, FloatArray] = {}
        for word, vector in read_word_vectors(file_path):
            vectors.setdefault(word, vector)
        if not vectors:
            raise ConfigurationError(f"{file_path} has no word vectors")
        return cls(vectors)

    def encode(self, sentences: Sequence[str], show_progress: bool = False) -> FloatArray:
        """The vectors (N, E) of N sentences."""
        encoded = numpy.zeros((len(sentences), self._vectors.shape[1]), numpy.float32)
        progress = Tqdm.tqdm(sentences, desc="averaging", disable=not show_progress)
        for sentence, mean in zip(progress, encoded):
            words = self._splitter.words(sentence)
            found = (self._rows.get(word, self._rows.get(word.lower())) for word in words)
            rows = [row for row in found if row is not None]
            if rows:
                mean[:] = self._vectors[rows].mean(axis=0)
        return encoded
