"""A `.npy` file of vectors that is written in pieces."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy
from numpy.lib.format import write_array_header_1_0

from allennlp_sentmatch.data.files.digests import ending
from allennlp_sentmatch.predictors.sentence_encoder import FloatArray


class VectorsFile(NamedTuple):
    """Vectors (N, E), float32, and after them the digest of the sentences that they belong to.

    The file is not mapped: all its pages that were ever touched would count as this process's
    memory, and pages that two machines write to would be lost.
    """

    path: Path
    num_vectors: int
    vector_size: int
    sentences_digest: str

    def create(self) -> None:
        """Write the file with zeros as vectors."""
        with open(self.path, "wb") as file:
            file.write(self._header)
            file.seek(self._position(self.num_vectors))
            file.write(ending(self.sentences_digest))

    def is_whole(self) -> bool:
        """Whether the file has all but the values of its vectors as `create` wrote it."""
        if not self.path.exists():
            return False
        with open(self.path, "rb") as file:
            header = file.read(len(self._header))
            file.seek(self._position(self.num_vectors))
            return header == self._header and file.read() == ending(self.sentences_digest)

    def read(self, rows: Sequence[int]) -> FloatArray:
        """The vectors (len(rows), E) in some rows."""
        vectors = numpy.empty((len(rows), self.vector_size), numpy.float32)
        with open(self.path, "rb") as file:
            for vector, row in zip(vectors, rows):
                file.seek(self._position(row))
                if file.readinto(vector.data) != vector.nbytes:
                    raise OSError("it was shortened")
        return vectors

    def write(self, row: int, vectors: FloatArray) -> None:
        """Write vectors (n, E) to the rows from `row` on, where they are on the disk then."""
        with open(self.path, "r+b") as file:
            file.seek(self._position(row))
            file.write(vectors.tobytes())
            file.flush()
            os.fsync(file.fileno())

    @property
    def _header(self) -> bytes:
        header = io.BytesIO()
        shape = (self.num_vectors, self.vector_size)
        write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": shape})
        return header.getvalue()

    def _position(self, row: int) -> int:
        """The byte at which a row begins."""
        return len(self._header) + row * self.vector_size * 4
