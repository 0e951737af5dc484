"""Encoding a corpus in blocks that are independent of each other, into a file for each."""

import hashlib
import os
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from allennlp.common.checks import ConfigurationError
from numpy.lib.format import open_memmap

from allennlp_sentmatch.corpus.sentence_blocks import SentenceBlocks
from allennlp_sentmatch.predictors.sentence_encoder import SentenceEncoder

DIGEST_SIZE = 16

IntArray = numpy.ndarray[Any, numpy.dtype[numpy.int64]]


class ShardedEncoding(NamedTuple):
    """The steps of encoding a corpus, each but the second for one block at a time, anywhere.

    1. `write_digests`: what tells the sentences of a block apart;
    2. `find_first_rows`: for each sentence of the corpus, its first occurrence;
    3. `write_shard`: the vectors of the sentences that occur first in this block;
    4. `merge`: all vectors of the block, at their place in the output.

    The steps communicate by files in a folder that all machines share. A file is complete or not
    there, and has the same bytes whoever writes it, so that a step can be repeated, elsewhere,
    after any interruption. The output's bytes are those of `encode_corpus`.
    """

    blocks: SentenceBlocks
    folder: Path

    def digests_file(self, block: int) -> Path:
        """The file that `write_digests` writes."""
        return self.folder / f"digests-{block:08d}.npy"

    def shard_file(self, block: int) -> Path:
        """The file that `write_shard` writes."""
        return self.folder / f"vectors-{block:08d}.npy"

    @property
    def first_rows_file(self) -> Path:
        """The output of `find_first_rows`: for each sentence, the first row with one like it."""
        return self.folder / "first_rows.npy"

    @property
    def vectors_file(self) -> Path:
        """The file that `merge` fills."""
        return self.folder / "vectors.npy"

    def write_digests(self, block: int) -> None:
        """Write the digests of the block's sentences."""
        digests = b"".join(
            hashlib.sha256(sentence.encode("utf-8", "surrogatepass")).digest()[:DIGEST_SIZE]
            for sentence in self.blocks.read(block)
        )
        _save(self.digests_file(block), numpy.frombuffer(digests, "u8").reshape(-1, 2))

    def find_first_rows(self) -> None:
        """Compare all digests, which takes about 50 bytes of memory for each sentence."""
        digests = numpy.empty((self.blocks.num_sentences, 2), "u8")
        for block in range(len(self.blocks)):
            rows = self.blocks.rows(block)
            digests[rows.start : rows.stop] = _load(self.digests_file(block), len(rows))
        # Sorted by digest, equal ones by row.
        order = numpy.lexsort((digests[:, 0], digests[:, 1]))
        digests = digests[order]
        is_first = numpy.ones(len(order), bool)
        is_first[1:] = (digests[1:] != digests[:-1]).any(axis=1)
        first_rows = numpy.empty(len(order), numpy.int64)
        first_rows[order] = order[is_first][is_first.cumsum() - 1]
        _save(self.first_rows_file, first_rows)

    def write_shard(self, block: int, encoder: SentenceEncoder, batch_size: int) -> None:
        """Encode the sentences of the block that do not occur before."""
        sentences = self.blocks.read(block)
        new = [sentences[position] for position in self._new(block, self._first_rows())]
        _save(self.shard_file(block), encoder.encode(new, batch_size, show_progress=False))

    def start_merging(self, vector_size: int) -> None:
        """Make the output, for `merge` to fill."""
        shape = (self.blocks.num_sentences, vector_size)
        open_memmap(self.vectors_file, "w+", numpy.float32, shape).flush()

    def merge(self, block: int, vector_size: int) -> None:
        """Write the vectors of the block to the output."""
        first_rows = self._first_rows()
        rows = self.blocks.rows(block)
        wanted = first_rows[rows.start : rows.stop]
        vectors = numpy.empty((len(rows), vector_size), numpy.float32)
        sources = wanted // self.blocks.block_size
        for source in numpy.unique(sources).tolist():
            new = self._new(source, first_rows)
            shard = _load(self.shard_file(source), len(new), vector_size)
            here = sources == source
            positions = wanted[here] - self.blocks.rows(source).start
            vectors[here] = shard[numpy.searchsorted(new, positions)]
        # The file is not mapped: pages that two machines write to would be lost.
        header_size = self.vectors_file.stat().st_size - self.blocks.num_sentences * vector_size * 4
        with open(self.vectors_file, "r+b") as file:
            file.seek(header_size + rows.start * vector_size * 4)
            file.write(vectors.tobytes())
            file.flush()
            os.fsync(file.fileno())

    def _first_rows(self) -> IntArray:
        first_rows: IntArray = _load(self.first_rows_file, self.blocks.num_sentences)
        return first_rows

    def _new(self, block: int, first_rows: IntArray) -> IntArray:
        """The positions in a block of the sentences that do not occur before, in their order."""
        rows = self.blocks.rows(block)
        own = numpy.arange(rows.start, rows.stop)
        return numpy.flatnonzero(first_rows[rows.start : rows.stop] == own)


def _save(path: Path, array: Any) -> None:
    """Write a file of this name at once and as a whole."""
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        with open(partial, "wb") as file:
            numpy.save(file, array)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _load(path: Path, *shape: int) -> Any:
    """The array in a file, whose first sizes must be these."""
    try:
        array = numpy.load(path, mmap_mode="r" if shape[0] else None, allow_pickle=False)
        problem = "" if array.shape[: len(shape)] == shape else f"its shape is {array.shape}"
    except (ValueError, EOFError) as error:
        problem = str(error)
    if problem:
        raise ConfigurationError(
            f"{path} is damaged: {problem}; delete the folder {path.parent} to start again"
        )
    return array
