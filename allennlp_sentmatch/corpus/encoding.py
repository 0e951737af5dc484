"""Encoding a corpus of any size into a `.npy` file, interruptible at any moment."""

import hashlib
import logging
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Union

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.common.util import lazy_groups_of

from allennlp_sentmatch.corpus.ray_encoder import RayEncoder
from allennlp_sentmatch.corpus.vectors_file import VectorsFile
from allennlp_sentmatch.corpus.work_folder import VECTORS, naming, work_folder
from allennlp_sentmatch.data.files.digests import SentencesDigest, sentences_digest
from allennlp_sentmatch.predictors.sentence_encoder import FloatArray, SentenceEncoder

logger = logging.getLogger(__name__)

DIGESTS = "digests"
"""The file of the finished blocks' digests."""

DIGEST_SIZE = 32

DATABASE = "seen.sqlite"


def encode_corpus(
    encoder: Union[SentenceEncoder, RayEncoder],
    sentences: Callable[[], Iterator[str]],
    output_file: Union[str, "os.PathLike[str]"],
    batch_size: int = 128,
    block_size: int = 8192,
    show_progress: bool = True,
    fingerprint: str = "",
) -> None:
    """Write the vectors of sentences to a `.npy` file, in the order of the sentences.

    A block of sentences is encoded at a time, sorted by length, and every distinct sentence of the
    corpus once. Until all is done, the work is in the folder `{output_file}.partial`. Called
    again after an interruption, even by `kill -9`, the function encodes the blocks that are not
    finished, or whose vectors are not what was written, and the file gets the bytes that an
    uninterrupted run gives. The memory in use does not grow with the corpus: sentences met before
    are looked up in a database in that folder.

    # Parameters

    encoder : `Union[SentenceEncoder, RayEncoder]`
        Both give the same bytes, and continue each other's interrupted runs.
    sentences : `Callable[[], Iterator[str]]`
        Gives the sentences, the same each time it is called: they are counted before they are
        encoded.
    output_file : `Union[str, os.PathLike]`
        Gets an array (number of sentences, E), float32, to be read by
        `numpy.load(output_file, mmap_mode="r")`. The file ends with a digest of the sentences,
        which NumPy does not read; see `check_sentences`.
    batch_size : `int`, optional (default = `128`)
    block_size : `int`, optional (default = `8192`)
        The number of sentences between two points to resume from.
    show_progress : `bool`, optional (default = `True`)
    fingerprint : `str`, optional (default = `""`)
        Names the encoder, for instance by a digest of its archive: an interrupted run is not
        resumed with another one.

    # Raises

    `ConfigurationError` if `output_file` exists or cannot be written, if an interrupted run had
    other sentences, another fingerprint or other sizes, if the sentences change while they are
    encoded, or if another process is writing the same file.
    """
    for name, size in (("batch_size", batch_size), ("block_size", block_size)):
        if size < 1:
            raise ConfigurationError(f"{name} must be at least 1, got {size}")
    output = Path(output_file)
    if output.exists():
        raise ConfigurationError(f"{output} exists already; delete it or name another file")
    survey = sentences_digest(sentences())
    settings = {
        "sentences": survey.hexdigest(),
        "encoder": fingerprint,
        "batch_size": batch_size,
        "block_size": block_size,
    }
    with (
        work_folder(output, settings) as folder,
        closing(_open_database(folder / DATABASE)) as seen,
        Tqdm.tqdm(
            total=survey.num_sentences,
            desc="encoding",
            unit=" sentences",
            disable=not show_progress,
        ) as progress,
    ):
        vectors = VectorsFile(
            folder / VECTORS, survey.num_sentences, encoder.vector_size, survey.hexdigest()
        )
        finished = _finished_blocks(folder / DIGESTS, vectors)
        read = SentencesDigest()
        # Those that are being encoded, with their numbers.
        unfinished: deque[tuple[int, _Block]] = deque()

        def new_sentences() -> Iterator[list[str]]:
            rest = islice(sentences(), survey.num_sentences)
            for number, block_sentences in enumerate(lazy_groups_of(rest, block_size)):
                read.update(block_sentences)
                with naming(folder / DATABASE):
                    block = _next_block(block_sentences, number * block_size, seen)
                if number < len(finished) and _is_finished(block, vectors, finished[number]):
                    progress.update(len(block_sentences))
                else:
                    unfinished.append((number, block))
                    yield block.new

        for new_vectors in encoder.encode_blocks(new_sentences(), batch_size):
            number, block = unfinished.popleft()
            digest = _write(block, vectors, new_vectors)
            _add_digest(folder / DIGESTS, number, digest)
            progress.update(len(block.first_rows))
        if read.hexdigest() != survey.hexdigest():
            raise ConfigurationError(
                f"the sentences were changed while they were encoded; delete the folder {folder} "
                "to start again"
            )


class _Block(NamedTuple):
    """Consecutive sentences of the corpus."""

    #: The row of the first of them.
    start: int
    #: For each sentence, the first row of the corpus with a sentence like it.
    first_rows: list[int]
    #: Those not met before, each once.
    new: list[str]
    #: Their digests and rows.
    digests: dict[bytes, int]


def _next_block(sentences: list[str], start: int, database: sqlite3.Connection) -> _Block:
    """The block of the sentences in the rows from `start` on, which count as met from now on."""
    block = _Block(start, [], [], {})
    for row, sentence in enumerate(sentences, start):
        digest = hashlib.sha256(sentence.encode("utf-8", "surrogatepass")).digest()
        first_row = block.digests.get(digest)
        if first_row is None:
            query = "SELECT row FROM seen WHERE digest = ?"
            found = database.execute(query, (digest,)).fetchone()
            first_row = found[0] if found else row
        if first_row == row:
            block.new.append(sentence)
            block.digests[digest] = row
        block.first_rows.append(first_row)
    database.executemany("INSERT INTO seen VALUES (?, ?)", block.digests.items())
    return block


def _finished_blocks(digests_file: Path, vectors: VectorsFile) -> list[bytes]:
    """The digests of finished blocks; makes a new file of vectors unless there is a whole one."""
    with naming(digests_file):
        content = digests_file.read_bytes() if digests_file.exists() else b""
    with naming(vectors.path):
        if not vectors.is_whole():
            if content:
                logger.warning("%s is missing or damaged: encoding starts again", vectors.path)
            vectors.create()
            content = b""
    with naming(digests_file):
        digests_file.write_bytes(content)
    # An interruption may have left a part of a digest at the end.
    ends = range(DIGEST_SIZE, len(content) + 1, DIGEST_SIZE)
    return [content[end - DIGEST_SIZE : end] for end in ends]


def _is_finished(block: _Block, vectors: VectorsFile, digest: bytes) -> bool:
    """Whether the block's sentences and vectors are those that were written, by their digest."""
    rows = range(block.start, block.start + len(block.first_rows))
    with naming(vectors.path):
        is_finished = _digest(block, vectors.read(rows)) == digest
    if not is_finished:
        logger.warning(
            "%s is damaged: rows %d to %d (counted from 0) are encoded again",
            *(vectors.path, rows[0], rows[-1]),
        )
    return is_finished


def _write(block: _Block, vectors: VectorsFile, new_vectors: FloatArray) -> bytes:
    """Fill the block's rows with the vectors of its new sentences and with earlier rows.

    Returns the digest of what is on the disk then.
    """
    filled = numpy.empty((len(block.first_rows), vectors.vector_size), numpy.float32)
    filled[[row - block.start for row in block.digests.values()]] = new_vectors
    first_rows = numpy.array(block.first_rows)
    is_here = first_rows >= block.start
    filled[is_here] = filled[first_rows[is_here] - block.start]
    with naming(vectors.path):
        filled[~is_here] = vectors.read(first_rows[~is_here].tolist())
        vectors.write(block.start, filled)
    return _digest(block, filled)


def _digest(block: _Block, vectors: FloatArray) -> bytes:
    """The SHA-256 of a block's sentences and their vectors."""
    digest = hashlib.sha256(b"".join(block.digests))
    digest.update(numpy.array(block.first_rows).data)
    digest.update(vectors.data)
    return digest.digest()


def _add_digest(digests_file: Path, number: int, digest: bytes) -> None:
    """Count a block as finished, once its vectors are on the disk."""
    with naming(digests_file), open(digests_file, "r+b") as file:
        file.seek(number * DIGEST_SIZE)
        file.write(digest)
        file.flush()
        os.fsync(file.fileno())


def _open_database(path: Path) -> sqlite3.Connection:
    """An empty table of the sentences that were met.

    Nothing protects it from an interruption: the next run fills a new one.
    """
    with naming(path):
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("CREATE TABLE seen (digest BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")
        database.execute("BEGIN")
    return database
