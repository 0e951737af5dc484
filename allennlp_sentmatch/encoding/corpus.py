"""Encoding a corpus of any size into a `.npy` file, interruptible at any moment."""

import fcntl
import hashlib
import io
import json
import logging
import os
import shutil
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import compress, islice
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.common.util import lazy_groups_of
from numpy.lib.format import write_array_header_1_0

from allennlp_sentmatch.data.files.digests import (
    SentencesDigest,
    content_digest,
    ending,
    ending_digest,
    sentences_digest,
)
from allennlp_sentmatch.data.files.vectors import Vectors, check_sentences, map_vectors
from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.encoding.archive_encoder import ArchiveEncoder
from allennlp_sentmatch.encoding.ray_encoder import RayEncoder
from allennlp_sentmatch.encoding.sentence_index import TOLERANCE, IntArray, evenly
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.standalone.encoder import FloatArray, normalized
from allennlp_sentmatch.standalone.files import check_absent

logger = logging.getLogger(__name__)

# The files of the folder with the work of an encoding that is not complete yet.
VECTORS = "vectors.npy"
DIGESTS = "digests"  # of the finished blocks
DATABASE = "seen.sqlite"
SETTINGS = "settings.json"
PARTIAL_SETTINGS = "settings.json.partial"
LOCK = "lock"

DIGEST_SIZE = 32

NUM_SAMPLES = 32
"""The number of vectors that are compared with the encoder's or a saved index's."""


def encode_corpus(
    encoder: Union[ArchiveEncoder, RayEncoder],
    sentences: Callable[[], Iterator[str]],
    output_file: Union[str, "os.PathLike[str]"],
    batch_size: int = 128,
    block_size: int = 8192,
    show_progress: bool = True,
    fingerprint: str = "",
    append: bool = False,
) -> None:
    """Write the vectors of sentences to a `.npy` file, in the order of the sentences.

    A block of sentences is encoded at a time, sorted by length, and every distinct sentence of the
    corpus once. Until all is done, the work is in the folder `{output_file}.partial`, with a
    database of the sentences met before. Called again after an interruption, even by `kill -9`, the
    function encodes the blocks that are not finished, or whose vectors are not what was written,
    and the file gets the bytes that an uninterrupted run gives.

    # Parameters

    encoder : `Union[ArchiveEncoder, RayEncoder]`
        Both give the same bytes, and continue each other's interrupted runs.
    sentences : `Callable[[], Iterator[str]]`
        Gives the sentences, the same each time it is called: they are counted before they are
        encoded.
    output_file : `Union[str, os.PathLike]`
        Gets an array (number of sentences, E), float32, to be read by
        `numpy.load(output_file, mmap_mode="r")`. The file ends with a digest of the sentences and
        one of all before it, which NumPy does not read; see `check_sentences` and `map_vectors`.
    batch_size : `int`, optional (default = `128`)
    block_size : `int`, optional (default = `8192`)
        The number of sentences between two points to resume from.
    show_progress : `bool`, optional (default = `True`)
    fingerprint : `str`, optional (default = `""`)
        Names the encoder, for instance by a digest of its archive: an interrupted run is not
        resumed with another one.
    append : `bool`, optional (default = `False`)
        Whether `output_file` may have the vectors of the first sentences. Then the others alone are
        encoded; the file stays as it is until the new one is complete, and takes its place.

    # Raises

    `ConfigurationError` if `output_file` exists or cannot be written, if an interrupted run had
    other sentences, another fingerprint or other sizes, if the sentences change while they are
    encoded, or if another process is writing the same file; with `append`, if the file is damaged,
    or is not the encoder's for the first sentences, by their digest and a sample of the vectors.
    """
    for name, size in (("batch_size", batch_size), ("block_size", block_size)):
        if size < 1:
            raise ConfigurationError(f"{name} must be at least 1, got {size}")
    output = Path(output_file)
    before: Any = ()
    if append and output.exists():
        before = _vectors_before(encoder, sentences, output)
    else:
        with configuration_errors():
            check_absent(output)
    survey = sentences_digest(sentences())
    settings = {
        "sentences": survey.hexdigest(),
        "encoder": fingerprint,
        "batch_size": batch_size,
        "block_size": block_size,
        **({"vectors before": len(before)} if len(before) else {}),
    }
    with (
        _work_folder(output, settings) as folder,
        closing(_open_database(folder / DATABASE)) as seen,
        Tqdm.tqdm(
            total=survey.num_sentences,
            desc="encoding",
            unit=" sentences",
            disable=not show_progress,
        ) as progress,
    ):
        vectors = _VectorsFile(
            folder / VECTORS, survey.num_sentences, encoder.vector_size, survey.hexdigest()
        )
        with _naming(vectors.path):
            vectors.prepare()
        finished = _finished_blocks(folder / DIGESTS)
        read = SentencesDigest()
        # Those that are being encoded, with their numbers.
        unfinished: deque[tuple[int, _Block]] = deque()

        def new_sentences() -> Iterator[list[str]]:
            rest = islice(sentences(), survey.num_sentences)
            for start in range(0, len(before), block_size):
                old_sentences = [*islice(rest, min(block_size, len(before) - start))]
                read.update(old_sentences)
                with _naming(folder / DATABASE):
                    _next_block(old_sentences, start, seen)
                with _naming(vectors.path):
                    size = len(old_sentences) * vectors.vector_size
                    begin = before.offset + 4 * start * vectors.vector_size
                    vectors.write(start, numpy.fromfile(output, "<f4", size, offset=begin))
                progress.update(len(old_sentences))
            for number, block_sentences in enumerate(lazy_groups_of(rest, block_size)):
                read.update(block_sentences)
                with _naming(folder / DATABASE):
                    block = _next_block(block_sentences, len(before) + number * block_size, seen)
                if number < len(finished) and _is_finished(block, vectors, finished[number]):
                    progress.update(len(block_sentences))
                else:
                    unfinished.append((number, block))
                    yield block.new

        for new_vectors in encoder.encode_blocks(new_sentences(), batch_size):
            number, block = unfinished.popleft()
            digest = _write(block, vectors, new_vectors)
            with _naming(folder / DIGESTS), open(folder / DIGESTS, "r+b") as file:
                _write_to_disk(file, number * DIGEST_SIZE, digest)
            progress.update(len(block.first_rows))
        if read.hexdigest() != survey.hexdigest():
            raise ConfigurationError(
                f"the sentences were changed while they were encoded; delete the folder {folder} "
                "to start again"
            )
        with _naming(folder / VECTORS):
            vectors.complete()


def _vectors_before(
    encoder: Union[ArchiveEncoder, RayEncoder], sentences: Callable[[], Iterator[str]], output: Path
) -> Any:
    """The mapped vectors of a file, which are the encoder's for the first of the sentences."""
    vectors = map_vectors(output)
    remedy = "delete it to encode all sentences"
    check_sentences(islice(sentences(), len(vectors)), output, remedy)
    is_ours = vectors.dtype == "<f4" and ending_digest(output) is not None
    if not is_ours or vectors.shape[1] != encoder.vector_size:
        raise ConfigurationError(
            f"{output} was not made by this command with a model of vectors of size "
            f"{encoder.vector_size}; {remedy}"
        )
    rows = evenly(len(vectors), NUM_SAMPLES).tolist()
    first = enumerate(islice(sentences(), len(vectors)))
    check_sample(encoder, vectors, rows, [sentence for row, sentence in first if row in rows])
    return vectors


def check_sample(
    encoder: Union[ArchiveEncoder, RayEncoder],
    vectors: Vectors,
    rows: Union[Sequence[int], IntArray],
    sentences: Sequence[str],
) -> None:
    """Raise a `ConfigurationError` if vectors in some rows are not the encoder's for a sentence."""
    if not sentences:
        return
    (encoded,) = encoder.encode_blocks([[*sentences]], len(sentences))
    same = (numpy.abs(normalized(vectors[rows]) - normalized(encoded)) <= TOLERANCE).all(axis=1)
    for row, sentence in zip(numpy.array(rows)[~same], compress(sentences, ~same)):
        raise ConfigurationError(
            f"the vector in row {row} (counted from 0; the sentence {sentence!r}) is not the "
            "model's for this sentence; was the corpus encoded with another model, or changed "
            "since?"
        )


@contextmanager
def _work_folder(output: Path, settings: dict[str, Any]) -> Iterator[Path]:
    """The folder `{output}.partial`, for this process and for work with these settings alone.

    At the end of the context, the file `VECTORS` in the folder becomes `output`, and the folder is
    deleted. After an error or an interruption, the folder stays.
    """
    folder = output.absolute().with_name(f"{output.name}.partial")
    with _naming(folder):
        folder.mkdir(exist_ok=True)
    with _naming(folder / LOCK):
        lock = open(folder / LOCK, "w")  # noqa: SIM115
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(f"{folder}: another process is writing there") from None
        with _naming(folder / SETTINGS):
            _check_settings(folder, settings)
        yield folder
        with _naming(folder / VECTORS):
            os.replace(folder / VECTORS, output)
            shutil.rmtree(folder)


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Name the file in errors of the disk and of a database that the next run makes again."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ConfigurationError(
            f"{file} cannot be written: {reason or error}; once this is resolved, the same "
            "command continues"
        ) from error


def _check_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Write the settings of a new run, or compare them with an interrupted run's."""
    path = folder / SETTINGS
    remedy = f"delete the folder {folder} to start again"
    if not path.exists():
        if not {LOCK, PARTIAL_SETTINGS}.issuperset(os.listdir(folder)):
            raise ConfigurationError(
                f"{path} is missing, which says whose work the folder holds; {remedy}"
            )
        (folder / PARTIAL_SETTINGS).write_text(json.dumps(settings), encoding="utf-8")
        os.replace(folder / PARTIAL_SETTINGS, path)
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        others = {name: before.get(name) for name in settings if before.get(name) != settings[name]}
    except (ValueError, RecursionError, AttributeError) as error:
        raise ConfigurationError(f"{path} is damaged: {error}; {remedy}") from error
    for name, value in others.items():
        raise ConfigurationError(
            f"{folder} holds an interrupted run with another setting of {name!r} "
            f"({shorten(value)}, now {settings[name]}); {remedy}"
        )


class _Block(NamedTuple):
    """Consecutive sentences of the corpus."""

    start: int  # the row of the first of them
    first_rows: list[int]  # for each sentence, the first row of the corpus with a sentence like it
    new: list[str]  # those not met before, each once
    digests: dict[bytes, int]  # of the new ones, with their rows


def _open_database(path: Path) -> sqlite3.Connection:
    """An empty table of the sentences that were met. After an interruption, a new one is filled."""
    with _naming(path):
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("CREATE TABLE seen (digest BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")
        database.execute("BEGIN")
    return database


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


class _VectorsFile(NamedTuple):
    """A `.npy` file of vectors (N, E), float32, and the digest of their sentences at its end, after
    which `complete` writes one of all this.

    It is not mapped: all its pages that were ever touched would count as this process's memory,
    and pages that two machines write to would be lost.
    """

    path: Path
    num_vectors: int
    vector_size: int
    sentences_digest: str

    def prepare(self) -> None:
        """Write all but the vectors, which stay as they are; zeros where there are none."""
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(self._header)
            file.truncate(self._position(self.num_vectors))
            file.seek(0, os.SEEK_END)
            file.write(ending(self.sentences_digest))

    def complete(self) -> None:
        with open(self.path, "a+b") as file:
            digest = content_digest(file)
            _write_to_disk(file, file.tell(), ending(digest))

    def read(self, rows: Sequence[int]) -> FloatArray:
        vectors = numpy.empty((len(rows), self.vector_size), numpy.float32)
        with open(self.path, "rb") as file:
            for vector, row in zip(vectors, rows):
                file.seek(self._position(row))
                if file.readinto(vector.data) != vector.nbytes:
                    raise OSError("it was shortened")
        return vectors

    def write(self, row: int, vectors: FloatArray) -> None:
        with open(self.path, "r+b") as file:
            _write_to_disk(file, self._position(row), vectors.tobytes())

    @property
    def _header(self) -> bytes:
        header = io.BytesIO()
        shape = (self.num_vectors, self.vector_size)
        write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": shape})
        return header.getvalue()

    def _position(self, row: int) -> int:
        return len(self._header) + row * self.vector_size * 4


def _write_to_disk(file: Any, position: int, content: bytes) -> None:
    file.seek(position)
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def _finished_blocks(digests_file: Path) -> list[bytes]:
    """The digests of finished blocks; the file has them alone from now on."""
    with _naming(digests_file):
        content = digests_file.read_bytes() if digests_file.exists() else b""
        # An interruption may have left a part of a digest at the end.
        ends = range(DIGEST_SIZE, len(content) + 1, DIGEST_SIZE)
        digests = [content[end - DIGEST_SIZE : end] for end in ends]
        digests_file.write_bytes(b"".join(digests))
    return digests


def _is_finished(block: _Block, vectors: _VectorsFile, digest: bytes) -> bool:
    """Whether the block's sentences and vectors are those that were written, by their digest."""
    rows = range(block.start, block.start + len(block.first_rows))
    with _naming(vectors.path):
        is_finished = _digest(block, vectors.read(rows)) == digest
    if not is_finished:
        logger.warning(
            "%s is damaged: rows %d to %d (counted from 0) are encoded again",
            *(vectors.path, rows[0], rows[-1]),
        )
    return is_finished


def _write(block: _Block, vectors: _VectorsFile, new_vectors: FloatArray) -> bytes:
    """Fill the block's rows with the vectors of its new sentences and with earlier rows, and return
    the digest of what is on the disk then.
    """
    filled = numpy.empty((len(block.first_rows), vectors.vector_size), numpy.float32)
    filled[[row - block.start for row in block.digests.values()]] = new_vectors
    first_rows = numpy.array(block.first_rows)
    is_here = first_rows >= block.start
    filled[is_here] = filled[first_rows[is_here] - block.start]
    with _naming(vectors.path):
        filled[~is_here] = vectors.read(first_rows[~is_here].tolist())
        vectors.write(block.start, filled)
    return _digest(block, filled)


def _digest(block: _Block, vectors: FloatArray) -> bytes:
    """The SHA-256 of a block's sentences and their vectors."""
    digest = hashlib.sha256(b"".join(block.digests))
    digest.update(numpy.array(block.first_rows).data)
    digest.update(vectors.data)
    return digest.digest()
