"""Encode a corpus of any size into a `.npy` file, with interruptions at any moment.

Neither the sentences nor the vectors need fit into memory: a block of sentences is read, encoded
and written at a time, and a database on disk knows which sentences were met.
"""

import hashlib
import logging
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import compress, islice
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy

from allennlp_sentmatch.array_types import FloatArray, IntArray
from allennlp_sentmatch.corpora.encoder_sources import Encodes
from allennlp_sentmatch.corpora.encoders import BlockEncoder, CorpusEncoder, block_encoder
from allennlp_sentmatch.corpora.sentence_index import TOLERANCE
from allennlp_sentmatch.corpora.unfinished_run import (
    DATABASE,
    DIGEST_SIZE,
    DIGESTS,
    VECTORS,
    VectorsFile,
    finished_blocks,
    naming,
    open_database,
    work_folder,
    write_to_disk,
)
from allennlp_sentmatch.corpora.vector_arrays import evenly
from allennlp_sentmatch.files.blocks import blocks_of
from allennlp_sentmatch.files.digests import SentencesDigest, ending_digest
from allennlp_sentmatch.files.folders import AnyPath, check_absent
from allennlp_sentmatch.files.progress import progress_bar
from allennlp_sentmatch.files.texts import noting
from allennlp_sentmatch.files.vectors import Vectors, check_digest, map_vectors
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.standalone.vectors import normalized

logger = logging.getLogger(__name__)

READ_TOGETHER = 8192  # sentences whose digest is computed at a time
NUM_SAMPLES = 32  # vectors to compare with the encoder's or a saved index's


def encode_corpus(
    encoder: Union[BlockEncoder, Encodes],
    sentences: Callable[[], Iterator[str]],
    output_file: AnyPath,
    batch_size: int = 128,
    block_size: int = 8192,
    show_progress_bar: Optional[bool] = None,
    fingerprint: str = "",
    append: bool = False,
) -> None:
    """Write the vectors of sentences to a `.npy` file, in the order of the sentences.

    A block of sentences is encoded at a time, sorted by length, and every distinct sentence once.
    Until all is done, the work is in the folder `{output_file}.partial`. Called again after an
    interruption, even by `kill -9`, the function encodes the blocks that are not finished, or whose
    vectors are damaged. The resulting file has the same bytes as after an uninterrupted run.

    # Parameters

    encoder : `Union[BlockEncoder, Encodes]`
        An `ArchiveEncoder` or a `RayEncoder`, which give the same bytes and continue each other's
        interrupted runs, or anything with a method `encode`, such as a `SentenceEncoder`.
    sentences : `Callable[[], Iterator[str]]`
        A function that returns the sentences, the same ones in each call: they are counted first.
    output_file : `Union[str, os.PathLike]`
        Gets an array (number of sentences, E), float32, to be read by
        `numpy.load(output_file, mmap_mode="r")`. The file ends with two digests, which NumPy does
        not read; see `check_sentences` and `map_vectors`.
    batch_size : `int`, optional (default = `128`)
    block_size : `int`, optional (default = `8192`)
        The number of sentences between two points to resume from.
    show_progress_bar : `bool`, optional (default = `None`)
        By default, a progress bar appears after some seconds on a terminal.
    fingerprint : `str`, optional (default = `""`)
        Names the encoder, for instance by a digest of its archive: an interrupted run is not
        resumed with another one.
    append : `bool`, optional (default = `False`)
        Whether `output_file` may have the vectors of the first sentences. Then only the others are
        encoded. The file stays unchanged until the new one is complete and replaces it.

    # Raises

    `TypeError` or `ValueError` for a sentence that cannot be encoded, with its row, counted from 0.
    `TypeError` if `sentences` is not a function.
    `ValueError` if `output_file` exists or cannot be written, if an interrupted run had other
    sentences, another fingerprint or other sizes, if the sentences change while they are encoded,
    or if another process is writing the same file; with `append`, if the file is damaged, or is not
    the encoder's for the first sentences, by their digest and a sample of the vectors.
    """
    if not callable(sentences):
        raise TypeError(
            "sentences must be a function that returns them, since they are read twice, such as "
            f"`lambda: iter(texts)`, not {type(sentences).__name__}"
        )
    output = Path(os.path.realpath(output_file))  # a symbolic link stays one
    is_continued = append and output.is_file()
    check_positive(batch_size=batch_size, block_size=block_size)
    if not is_continued:
        if output.is_file():
            raise ValueError(
                f"{output} exists already; delete it, name another file or, if sentences are new "
                "at the end of its corpus, encode only these with --append (append=True)"
            )
        check_absent(output)
    blocks = block_encoder(encoder)
    before: Any = map_vectors(output) if is_continued else ()
    survey = survey_of(_checked(blocks, sentences()), len(before))
    if is_continued:
        _check_vectors_before(blocks, before, survey, output)
    settings = {
        "sentences": survey.digest,
        "encoder": fingerprint,
        "batch_size": batch_size,
        "block_size": block_size,
    }
    if len(before):
        settings["vectors before"] = len(before)
    with (
        noting(_read_again(sentences)),  # blocks do not know the rows of their sentences
        work_folder(output, settings) as folder,
        closing(open_database(folder / DATABASE)) as seen,
        progress_bar(survey.num_sentences, "encoding", " sentences", show_progress_bar) as progress,
    ):
        vectors = VectorsFile(
            folder / VECTORS, survey.num_sentences, blocks.vector_size, survey.digest
        )
        run = _Run(folder, vectors, seen, block_size, progress)
        run.encode(blocks, sentences(), batch_size, before)


def _checked(encoder: Any, sentences: Iterable[str]) -> Iterable[str]:
    """Return the sentences; errors name the row of the first that cannot be encoded.

    Archives and other encoders of blocks, which may accept blank sentences, check them themselves.
    """
    if not isinstance(encoder, CorpusEncoder):
        return sentences
    return (encoder.check(sentence, f"sentence {row}") for row, sentence in enumerate(sentences))


def _read_again(sentences: Callable[[], Iterator[str]]) -> Iterator[str]:
    """Yield the sentences, which are not read before the first one is needed."""
    yield from sentences()


class Survey(NamedTuple):
    """Facts about a corpus, from reading it once."""

    num_sentences: int
    """The number of sentences."""
    digest: str
    """The digest of all sentences."""
    first_digest: str
    """The digest of the first sentences, as many as were asked for."""
    sample: dict[int, str]
    """Some of the first sentences, at most `NUM_SAMPLES`, by their rows."""


def survey_of(sentences: Iterable[str], num_first: int = 0) -> Survey:
    """Read a corpus once, and return the facts about it and its first `num_first` sentences.

    The sample is spread evenly over the first sentences, which are all of them if there are fewer.
    """
    digest = SentencesDigest()
    rows = set(evenly(num_first, NUM_SAMPLES).tolist())
    sample: dict[int, str] = {}
    rest = iter(sentences)
    for block in blocks_of(islice(rest, num_first), READ_TOGETHER):
        for row, sentence in enumerate(block, digest.num_sentences):
            if row in rows:
                sample[row] = sentence
        digest.update(block)
    first_digest = digest.hexdigest()
    for block in blocks_of(rest, READ_TOGETHER):
        digest.update(block)
    return Survey(digest.num_sentences, digest.hexdigest(), first_digest, sample)


def _check_vectors_before(encoder: BlockEncoder, vectors: Any, survey: Survey, file: Path) -> None:
    """Raise a `ValueError` unless a file has the encoder's vectors of the first sentences."""
    remedy = "delete it to encode all sentences"
    check_digest(survey.first_digest, file, remedy)
    is_ours = vectors.dtype == "<f4" and ending_digest(file) is not None
    if not is_ours or vectors.shape[1] != encoder.vector_size:
        raise ValueError(
            f"{file} was not made by this command with a model of vectors of size "
            f"{encoder.vector_size}; {remedy}"
        )
    check_sample(encoder, vectors, list(survey.sample), list(survey.sample.values()))


class _Run:
    """The work of `encode_corpus` in a work folder, new or resumed."""

    def __init__(
        self,
        folder: Path,
        vectors: VectorsFile,
        seen: sqlite3.Connection,
        block_size: int,
        progress: Any,
    ) -> None:
        self._folder = folder
        self._vectors = vectors
        self._seen = seen
        self._block_size = block_size
        self._progress = progress
        with naming(vectors.path):
            vectors.prepare()
        self._finished = finished_blocks(folder / DIGESTS)
        self._read = SentencesDigest()
        # The blocks that are being encoded, by number.
        self._unfinished: deque[tuple[int, _Block]] = deque()

    def encode(
        self,
        encoder: BlockEncoder,
        sentences: Iterator[str],
        batch_size: int,
        before: Any,
    ) -> None:
        """Write the vectors of all sentences; the first sentences have the vectors `before`.

        Raise `ValueError` if the sentences are not those that were counted, or if a file cannot be
        written.
        """
        rest = islice(sentences, self._vectors.num_vectors)
        blocks = self._new_sentences(rest, before)
        for new_vectors in encoder.encode_blocks(blocks, batch_size):
            number, block = self._unfinished.popleft()
            digest = self._write(block, new_vectors)
            digests = self._folder / DIGESTS
            with naming(digests), open(digests, "r+b") as file:
                write_to_disk(file, number * DIGEST_SIZE, digest)
            self._progress.update(len(block.first_rows))
        if self._read.hexdigest() != self._vectors.sentences_digest:
            raise ValueError(
                "the sentences were changed while they were encoded; delete the folder "
                f"{self._folder} to start again"
            )
        with naming(self._vectors.path):
            self._vectors.complete()

    def _new_sentences(self, sentences: Iterator[str], before: Any) -> Iterator[list[str]]:
        """Yield the new sentences of each block that is not finished yet.

        The blocks after those of the vectors `before`, which are copied, are numbered from 0.
        """
        self._copy(before, islice(sentences, len(before)))
        for number, block_sentences in enumerate(blocks_of(sentences, self._block_size)):
            block = self._next_block(block_sentences, len(before) + number * self._block_size)
            if self._is_finished(number, block):
                self._progress.update(len(block_sentences))
            else:
                self._unfinished.append((number, block))
                yield block.new

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
        self._read.update(sentences)
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


def check_sample(
    encoder: BlockEncoder,
    vectors: Vectors,
    rows: Union[Sequence[int], IntArray],
    sentences: Sequence[str],
) -> None:
    """Raise `ValueError` if some rows are not the encoder's vectors of their sentences.

    Lengths do not matter, and components of unit vectors may differ by `TOLERANCE`. The message has
    the first such row and its sentence.
    """
    if not sentences:
        return
    with noting(()):  # these warnings were given when the sentences were encoded
        (encoded,) = encoder.encode_blocks([[*sentences]], len(sentences))
    same = (numpy.abs(normalized(vectors[rows]) - normalized(encoded)) <= TOLERANCE).all(axis=1)
    for row, sentence in zip(numpy.array(rows)[~same], compress(sentences, ~same)):
        raise ValueError(
            f"the vector in row {row} (counted from 0; the sentence {sentence!r}) is not the "
            "model's for this sentence; was it encoded with another model, or changed since?"
        )
