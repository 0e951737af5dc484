"""The vectors of the tasks' sentences, each encoded once and kept in files where that is wanted."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Optional, Union

import numpy
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.digests import is_whole, sentences_digest
from allennlp_sentmatch.data.files.vectors import map_vectors, save_array
from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.predictors.sentence_encoder import FloatArray

Encode = Callable[[list[str]], FloatArray]
"""From N distinct sentences to their vectors (N, E)."""


class SentenceVectors:
    """Encodes sentences that it has not met before, and remembers their vectors.

    # Parameters

    encode : `Callable[[list[str]], numpy.ndarray]`
        From N distinct sentences to their vectors (N, E).
    cache_folder : `Union[str, os.PathLike]`, optional (default = `None`)
        Gets a `.npy` file for each data set, and later runs read it instead of encoding. Vectors
        from there are mapped into memory, not read at once: it saves memory, too.
    fingerprint : `str`, optional (default = `""`)
        Names the encoder, for instance by a digest of its archive: the files of another one are not
        read.
    """

    def __init__(
        self,
        encode: Encode,
        cache_folder: Union[str, "os.PathLike[str]", None] = None,
        fingerprint: str = "",
    ) -> None:
        self._encode = encode
        self._folder = None if cache_folder is None else Path(cache_folder)
        self._fingerprint = fingerprint
        self._blocks: list[FloatArray] = []
        self._rows: dict[str, tuple[int, int]] = {}
        """By sentence, the block and the row in it."""

    @property
    def size(self) -> Optional[int]:
        """The vectors' width E; `None` as long as there are none."""
        return self._blocks[0].shape[1] if self._blocks else None

    def add(self, data_set: str, sentences: Sequence[str]) -> None:
        """Encode the sentences of a data set, unless they are known or in a file that is whole.

        # Raises

        `ConfigurationError` for vectors of another number or width, for one with a component that
        is not finite, naming its sentence.
        """
        distinct = list(dict.fromkeys(sentences))
        if all(sentence in self._rows for sentence in distinct):
            return
        file = None if self._folder is None else self._folder / self._file_name(data_set, distinct)
        if file is not None and is_whole(file):
            self._remember(distinct, self._checked(map_vectors(file), distinct))
            return
        known = [sentence for sentence in distinct if sentence in self._rows]
        new = [sentence for sentence in distinct if sentence not in self._rows]
        encoded = self._checked(self._encode(new), new)
        if file is not None:
            vectors = numpy.concatenate([self.of(known), encoded]) if known else encoded
            order = {sentence: row for row, sentence in enumerate(known + new)}
            in_order = vectors[[order[sentence] for sentence in distinct]]
            save_array(file, in_order.astype(numpy.float32, copy=False))
            self._remember(distinct, map_vectors(file))
        else:
            self._remember(new, encoded)

    def of(self, sentences: Sequence[str]) -> FloatArray:
        """The vectors (N, E) of N sentences that were added."""
        rows = [self._rows[sentence] for sentence in sentences]
        vectors = numpy.empty((len(rows), self._blocks[0].shape[1]), numpy.float32)
        blocks = numpy.array([block for block, _ in rows])
        positions = numpy.array([row for _, row in rows])
        for block in numpy.unique(blocks):
            here = blocks == block
            vectors[here] = self._blocks[block][positions[here]]
        return vectors

    def _remember(self, sentences: list[str], vectors: FloatArray) -> None:
        self._blocks.append(vectors)
        for row, sentence in enumerate(sentences):
            self._rows.setdefault(sentence, (len(self._blocks) - 1, row))

    def _checked(self, vectors: FloatArray, sentences: list[str]) -> FloatArray:
        width = "E" if self.size is None else self.size
        if (
            vectors.ndim != 2
            or len(vectors) != len(sentences)
            or vectors.shape[1] != (self.size or vectors.shape[1])
            or vectors.dtype.kind != "f"
        ):
            raise ConfigurationError(
                f"expected vectors of the shape ({len(sentences)}, {width}), got {vectors.shape} "
                f"of {vectors.dtype}"
            )
        finite = numpy.isfinite(vectors).all(axis=1)
        if not finite.all():
            raise ConfigurationError(
                f"the vector of {shorten(sentences[finite.argmin()])} has a component that is not "
                "a finite number"
            )
        return vectors

    def _file_name(self, data_set: str, sentences: list[str]) -> str:
        digest = sentences_digest([self._fingerprint, *sentences]).hexdigest()
        return f"{data_set.lower()}-{digest[:16]}.npy"
