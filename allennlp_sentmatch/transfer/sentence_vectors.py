"""Vectors of the tasks' sentences: encoded once, read from a file, or averaged from words."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Optional

import numpy

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.corpora.survey import alike
from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer
from allennlp_sentmatch.data.word_vectors import read_word_vectors
from allennlp_sentmatch.errors import ConfigurationError, configuration_errors
from allennlp_sentmatch.files.digests import is_whole, sentences_digest
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.files.progress import progress_over
from allennlp_sentmatch.files.tables import listed_sentences
from allennlp_sentmatch.files.vectors import check_sentences, map_vectors, save_array

EncodeFunction = Callable[[list[str]], FloatArray]
"""A function from N distinct sentences to their vectors (N, E)."""


class SentenceVectors:
    """Encodes sentences that it has not met before, and remembers their vectors.

    # Parameters

    encode : `Callable[[list[str]], numpy.ndarray]`
        A function from N distinct sentences to their vectors (N, E).
    cache_folder : `Union[str, os.PathLike]`, optional (default = `None`)
        Contains a `.npy` file for each data set, which later runs read instead of encoding. Its
        vectors are memory-mapped, which also saves memory.
    fingerprint : `str`, optional (default = `""`)
        Identifies the encoder, for example by a digest of its archive: files of other encoders are
        not read.
    """

    def __init__(
        self,
        encode: EncodeFunction,
        cache_folder: Optional[AnyPath] = None,
        fingerprint: str = "",
    ) -> None:
        self._encode = encode
        self._folder = None if cache_folder is None else Path(cache_folder)
        self._fingerprint = fingerprint
        # Keyed by sentence; values are rows of an array or of a memory map.
        self._vectors: dict[str, FloatArray] = {}

    @property
    def size(self) -> Optional[int]:
        """The vectors' width E; `None` if there are none yet."""
        return next(map(len, self._vectors.values()), None)

    @configuration_errors()
    def add(self, data_set: str, sentences: Sequence[str]) -> None:
        """Encode the sentences of a data set, unless they are known or in a complete file.

        Raise `ConfigurationError` for vectors of another number or width, or for one with a
        component that is not finite, naming its sentence.
        """
        distinct = list(dict.fromkeys(sentences))
        new = [sentence for sentence in distinct if sentence not in self._vectors]
        if not new:
            return
        if self._folder is None:
            self._encode_new(new)
            return
        digest = sentences_digest([self._fingerprint, *distinct]).hexdigest()
        file = self._folder / f"{data_set.lower()}-{digest[:16]}.npy"
        if not is_whole(file):
            self._encode_new(new)
            save_array(file, self.of(distinct))
        mapped = self._checked(map_vectors(file), distinct)
        self._vectors.update(zip(distinct, numpy.asarray(mapped)))

    def _encode_new(self, sentences: list[str]) -> None:
        """Encode sentences, and remember their vectors."""
        vectors = self._checked(self._encode(sentences), sentences)
        self._vectors.update(zip(sentences, vectors))

    def of(self, sentences: Sequence[str]) -> FloatArray:
        """Return the vectors (N, E), float32, of N sentences that were added."""
        vectors = numpy.stack([self._vectors[sentence] for sentence in sentences])
        return vectors.astype(numpy.float32, copy=False)

    def _checked(self, vectors: FloatArray, sentences: list[str]) -> FloatArray:
        """Return the vectors (N, E) of N sentences.

        Raise `ConfigurationError` for another shape, and for a component that is not finite.
        """
        size = self.size
        has_shape = vectors.ndim == 2 and len(vectors) == len(sentences)
        has_size = has_shape and size in (None, vectors.shape[1])
        if not has_size or vectors.dtype.kind != "f":
            raise ConfigurationError(
                f"expected vectors of the shape ({len(sentences)}, {size or 'E'}), got "
                f"{vectors.shape} of {vectors.dtype}"
            )
        finite = numpy.isfinite(vectors).all(axis=1)
        if not finite.all():
            raise ConfigurationError(
                f"the vector of {shorten(sentences[finite.argmin()])} has a component that is not "
                "a finite number"
            )
        return vectors


class StoredVectors:
    """Looks up the vectors of sentences.

    # Parameters

    sentences : `Sequence[str]`
    vectors : `numpy.ndarray`
        (len(sentences), E)

    # Raises

    `ConfigurationError` for vectors of another shape, and for equal sentences whose vectors differ.
    """

    def __init__(self, sentences: Sequence[str], vectors: FloatArray) -> None:
        if vectors.ndim != 2 or len(vectors) != len(sentences):
            raise ConfigurationError(
                f"there are {len(sentences)} sentences, but the vectors have the shape "
                f"{vectors.shape}; expected a row for each sentence"
            )
        self._rows: dict[str, int] = {}
        first_rows = [self._rows.setdefault(text, row) for row, text in enumerate(sentences)]
        repeated = [row for row, first in enumerate(first_rows) if row != first]
        first = [first_rows[row] for row in repeated]
        same = alike(vectors[repeated], vectors[first])
        if not same.all():
            position = same.argmin()
            raise ConfigurationError(
                f"rows {first[position]} and {repeated[position]} (counted from 0) have different "
                f"vectors, but the same sentence, {shorten(sentences[first[position]])}; write one "
                "vector for each sentence"
            )
        self._vectors = vectors

    @classmethod
    @configuration_errors()
    def from_files(
        cls,
        sentences_file: AnyPath,
        vectors_file: AnyPath,
    ) -> "StoredVectors":
        """Return the vectors of a text file's sentences, in the rows of a `.npy` file.

        A line is a sentence. Raise `ConfigurationError` for a file that cannot be read as such, or
        vectors that `allennlp encode` made of other sentences.
        """
        sentences = list(listed_sentences(sentences_file))
        vectors = map_vectors(vectors_file)
        stored = cls(sentences, vectors)
        check_sentences(sentences, vectors_file)
        return stored

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        """Return the vectors (N, E) of N sentences.

        Raise `ConfigurationError` for a sentence without a vector.
        """
        missing = [sentence for sentence in sentences if sentence not in self._rows]
        if missing:
            raise ConfigurationError(
                f"{len(missing)} of {len(sentences)} sentences have no vector, for instance "
                f"{shorten(missing[0])}"
            )
        vectors: FloatArray = self._vectors[[self._rows[sentence] for sentence in sentences]]
        return vectors


class WordVectorAverage:
    """Averages the vectors of the words that a file of word vectors has.

    Words, by spaCy's rules for English, are looked up as written and, if missing, in lower case.
    The vector of a sentence without a known word is zero.

    # Parameters

    vectors : `dict[str, numpy.ndarray]`
        The vectors (E,), by word.
    """

    def __init__(self, vectors: dict[str, FloatArray]) -> None:
        self._rows = {word: row for row, word in enumerate(vectors)}
        self._vectors = numpy.stack(list(vectors.values()))
        self._splitter = SpacyBlankTokenizer().splitter()

    @classmethod
    def from_file(cls, file_path: AnyPath) -> "WordVectorAverage":
        """Return the average of a file's vectors, of each word the first one.

        The file is as for `allennlp_sentmatch.data.word_vectors.read_word_vectors`. Raise
        `ConfigurationError` for one without vectors.
        """
        vectors: dict[str, FloatArray] = {}
        for word, vector in read_word_vectors(file_path):
            vectors.setdefault(word, vector)
        if not vectors:
            raise ConfigurationError(f"{file_path} has no word vectors")
        return cls(vectors)

    def encode(self, sentences: Sequence[str], show_progress_bar: bool = False) -> FloatArray:
        """Return the vectors (N, E), float32, of N sentences."""
        size = self._vectors.shape[1]
        encoded = numpy.zeros((len(sentences), size), numpy.float32)
        progress = progress_over(sentences, "averaging", show_progress_bar)
        for sentence, mean in zip(progress, encoded):
            found = map(self._row, self._splitter.words(sentence))
            rows = [row for row in found if row is not None]
            if rows:
                mean[:] = self._vectors[rows].mean(axis=0)
        return encoded

    def _row(self, word: str) -> Optional[int]:
        """Return the row of a word's vector; `None` if it has none."""
        return self._rows.get(word, self._rows.get(word.lower()))
