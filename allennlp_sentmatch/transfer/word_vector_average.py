"""The mean of a sentence's word vectors: the baseline of sentence encoders."""

import os
from collections.abc import Sequence
from typing import Optional, Union

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.data.tokenizers import Tokenizer

from allennlp_sentmatch.data.files.lines import PathOrStr, not_empty, read_lines
from allennlp_sentmatch.data.files.source import Source
from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer
from allennlp_sentmatch.predictors.sentence_encoder import FloatArray


class WordVectorAverage:
    """Averages the vectors of the words that a file of word vectors has.

    A word is looked up as it is written and, if it is not there, in lower case. The vector of a
    sentence without a known word is zero.

    # Parameters

    vectors : `Dict[str, numpy.ndarray]`
        By word, (E,).
    tokenizer : `Tokenizer`, optional (default = `SpacyBlankTokenizer()`)
    """

    def __init__(
        self, vectors: dict[str, FloatArray], tokenizer: Optional[Tokenizer] = None
    ) -> None:
        self._vectors = vectors
        self._tokenizer = tokenizer or SpacyBlankTokenizer()
        self._size = len(next(iter(vectors.values())))

    @classmethod
    def from_file(
        cls, file_path: Union[str, "os.PathLike[str]"], tokenizer: Optional[Tokenizer] = None
    ) -> "WordVectorAverage":
        """The average of vectors in GloVe's text format.

        # Parameters

        file_path : `Union[str, os.PathLike]`
            A path or URL, gzipped or not: a word and its numbers on each line, separated by spaces.
            A first line of two numbers (word2vec's) is skipped.
        tokenizer : `Tokenizer`, optional (default = `SpacyBlankTokenizer()`)

        # Raises

        `ConfigurationError` for a line of another form, naming it.
        """
        return cls(_read(file_path), tokenizer)

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        """The vectors (N, E) of N sentences."""
        encoded = numpy.zeros((len(sentences), self._size), numpy.float32)
        for row, sentence in enumerate(Tqdm.tqdm(sentences, desc="averaging")):
            words = [token.ensure_text() for token in self._tokenizer.tokenize(sentence)]
            found = [self._vectors.get(word, self._vectors.get(word.lower())) for word in words]
            known = [vector for vector in found if vector is not None]
            if known:
                encoded[row] = numpy.mean(known, axis=0)
        return encoded


def _read(file_path: PathOrStr) -> dict[str, FloatArray]:
    vectors: dict[str, FloatArray] = {}
    size = 0
    lines = not_empty(read_lines(file_path), file_path)
    for number, line in Tqdm.tqdm(lines, desc="reading word vectors"):
        line = line.rstrip()
        if number == 1 and len(line.split(" ")) == 2:
            continue
        size = size or line.count(" ")
        # Some words of GloVe 840B have spaces in them.
        word, *numbers = line.rsplit(" ", size)
        try:
            vector = numpy.array(numbers, dtype=numpy.float32)
        except ValueError:
            vector = numpy.empty(0, numpy.float32)
        if len(vector) != size or size < 2 or not numpy.isfinite(vector).all():
            raise ConfigurationError(
                f"{Source(file_path, number)}: expected a word and {size or 'some'} finite "
                "numbers, separated by spaces"
            )
        vectors.setdefault(word, vector)
    if not vectors:
        raise ConfigurationError(f"{file_path} has no word vectors")
    return vectors
