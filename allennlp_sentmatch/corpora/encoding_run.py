"""Encode a corpus block by block, and resume after an interruption."""

import hashlib
import logging
import sqlite3
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.corpora.encoders import BlockEncoder
from allennlp_sentmatch.corpora.survey import NUM_SAMPLES, check_same
from allennlp_sentmatch.corpora.unfinished_run import (
    DATABASE,
    DIGEST_SIZE,
    DIGESTS,
    VectorsFile,
    finished_blocks,
    naming,
    write_to_disk,
)
from allennlp_sentmatch.files.blocks import blocks_of
from allennlp_sentmatch.files.digests import SentencesDigest

logger = logging.getLogger(__name__)


class EncodingRun:
    """The work of `encode_corpus` in a work folder, new or resumed.

    # Parameters

    folder : `Path`
    vectors : `VectorsFile`
        The file in the folder that gets the vectors.
    seen : `sqlite3.Connection`
        The database of the sentences that were met.
    block_size : `int`
        The number of sentences between two points to resume from.
    progress : `tqdm`
        Counts the sentences.
    checks_model : `bool`
        Whether a sample of the vectors of an interrupted run must be the encoder's.
    """

    def __init__(
        self,
        folder: Path,
        vectors: VectorsFile,
        seen: sqlite3.Connection,
        block_size: int,
        progress: Any,
        checks_model: bool,
    ) -> None:
        self._folder = folder
        self._vectors = vectors
        self._seen = seen
        self._block_size = block_size
        self._progress = progress
        self._checks_model = checks_model
        with naming(vectors.path):
            vectors.prepare()
        self._finished = finished_blocks(folder / DIGESTS)
        self._read_digest = SentencesDigest()
        # The blocks that are being encoded, by number; a sample of a finished block has none.
        self._pending: deque[tuple[Optional[int], _Block]] = deque()

    def encode(
        self,
        encoder: BlockEncoder,
        sentences: Iterator[str],
        batch_size: int,
        before: Any,
    ) -> None:
        """Write the vectors of all sentences; the first sentences have the vectors `before`.

        Raise `ValueError` if the sentences are not those that were counted, if an interrupted run
        had another model, or if a file cannot be written.
        """
        rest = islice(sentences, self._vectors.num_vectors)
        blocks = self._new_sentences(rest, before)
        for new_vectors in encoder.encode_blocks(blocks, batch_size):
            number, block = self._pending.popleft()
            if number is None:
                self._check_model(block, new_vectors)
                continue
            digest = self._write(block, new_vectors)
            digests = self._folder / DIGESTS
            with naming(digests), open(digests, "r+b") as file:
                write_to_disk(file, number * DIGEST_SIZE, digest)
            self._progress.update(len(block.first_rows))
        if self._read_digest.hexdigest() != self._vectors.sentences_digest:
            raise ValueError(
                "the sentences were changed while they were encoded; delete the folder "
                f"{self._folder} to start again"
            )
        with naming(self._vectors.path):
            self._vectors.complete()

    def _new_sentences(self, sentences: Iterator[str], before: Any) -> Iterator[list[str]]:
        """Yield the new sentences of each unfinished block, and once a sample of a finished one.

        The vectors `before` are copied; the blocks after them are numbered from 0.
        """
        self._copy(before, islice(sentences, len(before)))
        for number, block_sentences in enumerate(blocks_of(sentences, self._block_size)):
            block = self._next_block(block_sentences, len(before) + number * self._block_size)
            if not self._is_finished(number, block):
                self._pending.append((number, block))
                yield block.new
                continue
            self._progress.update(len(block_sentences))
            if self._checks_model and block.new:
                self._checks_model = False  # once
                self._pending.append((None, block))
                yield block.new[:NUM_SAMPLES]

    def _copy(self, before: Any, sentences: Iterator[str]) -> None:
        """Write the mapped vectors of the first sentences as they are."""
        start = 0
        for block_sentences in blocks_of(sentences, self._block_size):
            self._next_block(block_sentences, start)
            size = len(block_sentences) * self._vectors.vector_size
            begin = before.offset + 4 * start * self._vectors.vector_size
            with naming(self._vectors.path):
                # Read from the file: pages of the memory map would count as this process's memory.
                copied = numpy.fromfile(before.filename, "<f4", size, offset=begin)
                self._vectors.write(start, copied)
            self._progress.update(len(block_sentences))
            start += len(block_sentences)

    def _next_block(self, sentences: list[str], start: int) -> "_Block":
        """Return the block of the sentences in the rows from `start` on, and record them as met."""
        self._read_digest.update(sentences)
        block = _Block(start, [], [], {})
        with naming(self._folder / DATABASE):
            for row, sentence in enumerate(sentences, start):
                digest = hashlib.sha256(sentence.encode("utf-8", "surrogatepass")).digest()
                first_row = block.digests.get(digest)
                if first_row is None:
                    query = "SELECT row FROM seen WHERE digest = ?"
                    found = self._seen.execute(query, (digest,)).fetchone()
                    first_row = found[0] if found else row
                if first_row == row:
                    block.new.append(sentence)
                    block.digests[digest] = row
                block.first_rows.append(first_row)
            self._seen.executemany("INSERT INTO seen VALUES (?, ?)", block.digests.items())
        return block

    def _is_finished(self, number: int, block: "_Block") -> bool:
        """Return whether an earlier run has written a block's vectors, as they are on the disk."""
        if number >= len(self._finished):
            return False
        rows = range(block.start, block.start + len(block.first_rows))
        path = self._vectors.path
        with naming(path):
            is_finished = block.digest_with(self._vectors.read(rows)) == self._finished[number]
        if not is_finished:
            message = "%s is damaged: rows %d to %d (counted from 0) are encoded again"
            logger.warning(message, path, rows[0], rows[-1])
        return is_finished

    def _check_model(self, block: "_Block", encoded: FloatArray) -> None:
        """Raise a `ValueError` unless the file has the `encoded` vectors of the first new sentences
        of a block.
        """
        rows = list(islice(block.digests.values(), len(encoded)))
        with naming(self._vectors.path):
            written = self._vectors.read(rows)
        try:
            check_same(written, encoded, rows, block.new)
        except ValueError as error:
            raise ValueError(
                f"{self._folder} holds an interrupted run: {error} Delete the folder to start again"
            ) from error

    def _write(self, block: "_Block", new_vectors: FloatArray) -> bytes:
        """Write the block's rows, the vectors of new sentences and copies of earlier rows.

        Return the digest of what is then on the disk.
        """
        vectors = self._vectors
        filled = numpy.empty((len(block.first_rows), vectors.vector_size), numpy.float32)
        filled[[row - block.start for row in block.digests.values()]] = new_vectors
        first_rows = numpy.array(block.first_rows)
        is_here = first_rows >= block.start
        filled[is_here] = filled[first_rows[is_here] - block.start]
        with naming(vectors.path):
            filled[~is_here] = vectors.read(first_rows[~is_here].tolist())
            vectors.write(block.start, filled)
        return block.digest_with(filled)


class _Block(NamedTuple):
    """Consecutive sentences of the corpus."""

    start: int  # the row of the block's first sentence
    first_rows: list[int]  # for each sentence, the first row of the corpus with a sentence like it
    new: list[str]  # the sentences not met before, each once
    digests: dict[bytes, int]  # the digests of the new sentences, with their rows

    def digest_with(self, vectors: FloatArray) -> bytes:
        """Return the SHA-256 of the block's sentences and of their vectors (B, E), 32 bytes."""
        digest = hashlib.sha256(b"".join(self.digests))
        digest.update(numpy.array(self.first_rows).data)
        digest.update(vectors.data)
        return digest.digest()
