"""Encoding a corpus of any size into a `.npy` file, interruptible at any moment."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Union

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from numpy.lib.format import open_memmap

from allennlp_sentmatch.predictors.sentence_encoder import FloatArray, SentenceEncoder

DATABASE = "progress.sqlite"


def encode_corpus(
    encoder: SentenceEncoder,
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
    again after an interruption, even by `kill -9`, the function continues with the first unfinished
    block, and the file gets the bytes that an uninterrupted run gives. The memory in use does not
    grow with the corpus: sentences met before are looked up in a database in that folder.

    # Parameters

    encoder : `SentenceEncoder`
    sentences : `Callable[[], Iterator[str]]`
        Gives the sentences, the same each time it is called: they are counted before they are
        encoded.
    output_file : `Union[str, os.PathLike]`
        Gets an array (number of sentences, E), float32, to be read by
        `numpy.load(output_file, mmap_mode="r")`.
    batch_size : `int`, optional (default = `128`)
    block_size : `int`, optional (default = `8192`)
        The number of sentences between two points to resume from.
    show_progress : `bool`, optional (default = `True`)
    fingerprint : `str`, optional (default = `""`)
        Names the encoder, for instance by a digest of its archive: an interrupted run is not
        resumed with another one.

    # Raises

    `ConfigurationError` if `output_file` exists or cannot be written, if an interrupted run had
    other sentences, another fingerprint or other sizes or left damaged files, or if another process
    is writing the same file.
    """
    output = new_output(output_file, batch_size=batch_size, block_size=block_size)
    num_sentences, corpus_digest = _survey(sentences())
    folder = output.with_name(output.name + ".partial")
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "sentences": corpus_digest,
        "encoder": fingerprint,
        "batch_size": str(batch_size),
        "block_size": str(block_size),
    }
    database = _open_database(folder, settings)
    try:
        vectors_file = folder / "vectors.npy"
        done = _num_done(database, num_sentences, folder)
        shape = (num_sentences, encoder.vector_size)
        with naming(vectors_file):
            if done == 0:
                open_memmap(vectors_file, "w+", numpy.float32, shape).flush()
            header_size = _header_size(vectors_file, shape)
        rest = islice(sentences(), done, None)
        with Tqdm.tqdm(
            total=num_sentences,
            initial=done,
            desc="encoding",
            unit=" sentences",
            disable=not show_progress,
        ) as progress:
            while done < num_sentences:
                block = _next_block(list(islice(rest, block_size)), done, database)
                new_vectors = encoder.encode(block.new, batch_size, show_progress=False)
                with naming(vectors_file):
                    _write(vectors_file, header_size, block, new_vectors)
                with naming(folder / DATABASE):
                    _count_as_done(database, block)
                done += len(block.first_rows)
                progress.update(len(block.first_rows))
    finally:
        database.close()
    with naming(vectors_file):
        _header_size(vectors_file, shape)
        os.replace(vectors_file, output)
        shutil.rmtree(folder)


def new_output(path: Union[str, "os.PathLike[str]"], **sizes: int) -> Path:
    """The path of a file that does not exist yet, after a check that the sizes are positive."""
    for name, size in sizes.items():
        if size < 1:
            raise ConfigurationError(f"{name} must be at least 1, got {size}")
    output = Path(path)
    if output.exists():
        raise ConfigurationError(f"{output} exists already; delete it or name another file")
    return output


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Name the file in errors of the disk and of the database."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(
            f"{file} cannot be written: {error.strerror or error}; once this is resolved, the same "
            "command continues"
        ) from error
    except sqlite3.OperationalError as error:  # of a full or read-only disk
        raise ConfigurationError(
            f"{file} cannot be written: {error}; once this is resolved, the same command continues"
        ) from error
    except sqlite3.DatabaseError as error:
        raise _damaged(file, str(error)) from error


def _damaged(file: Path, problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"{file} is damaged: {problem}; delete the folder {file.parent} to start again"
    )


def _header_size(vectors_file: Path, shape: tuple[int, int]) -> int:
    """The number of bytes before the vectors, after a check that these are complete."""
    try:
        vectors = open_memmap(vectors_file, "r")
    except ValueError as error:
        raise _damaged(vectors_file, str(error)) from error
    if vectors.shape != shape or vectors.dtype != numpy.float32:
        found = f"{vectors.dtype} {vectors.shape}"
        raise _damaged(vectors_file, f"it holds {found}, not float32 {shape}")
    return int(vectors.offset)


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
    """The block of the sentences in the rows from `start` on."""
    block = _Block(start, [], [], {})
    for row, sentence in enumerate(sentences, start):
        digest = hashlib.sha256(_encoded(sentence)).digest()
        first_row = block.digests.get(digest)
        if first_row is None:
            query = "SELECT row FROM seen WHERE digest = ?"
            found = database.execute(query, (digest,)).fetchone()
            first_row = found[0] if found else row
        if first_row == row:
            block.new.append(sentence)
            block.digests[digest] = row
        block.first_rows.append(first_row)
    return block


def _write(vectors_file: Path, header_size: int, block: _Block, new_vectors: FloatArray) -> None:
    """Fill the block's rows with the vectors of its new sentences and with earlier rows.

    The file is not mapped: all its pages that were ever touched would count as this process's
    memory.
    """
    row_size = new_vectors.shape[1] * new_vectors.itemsize
    with open(vectors_file, "r+b") as file:
        vectors = numpy.empty((len(block.first_rows), new_vectors.shape[1]), numpy.float32)
        vectors[[row - block.start for row in block.digests.values()]] = new_vectors
        for offset, first_row in enumerate(block.first_rows):
            if first_row >= block.start:
                vectors[offset] = vectors[first_row - block.start]
            else:
                file.seek(header_size + first_row * row_size)
                vectors[offset] = numpy.frombuffer(file.read(row_size), numpy.float32)
        file.seek(header_size + block.start * row_size)
        file.write(vectors.tobytes())
        file.flush()
        os.fsync(file.fileno())


def _count_as_done(database: sqlite3.Connection, block: _Block) -> None:
    """To be called when the block's vectors are on the disk."""
    database.executemany("INSERT INTO seen VALUES (?, ?)", block.digests.items())
    database.execute("UPDATE progress SET done = ?", (block.start + len(block.first_rows),))
    database.commit()
    database.execute("BEGIN EXCLUSIVE")


def _encoded(sentence: str) -> bytes:
    return sentence.encode("utf-8", "surrogatepass")


def _survey(sentences: Iterator[str]) -> tuple[int, str]:
    """The number of sentences and a digest of them."""
    digest = hashlib.sha256()
    number = 0
    for sentence in sentences:
        number += 1
        encoded = _encoded(sentence)
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return number, digest.hexdigest()


def _open_database(folder: Path, settings: dict[str, str]) -> sqlite3.Connection:
    """The work's state, locked against other processes, after a check of its `settings`."""
    with naming(folder / DATABASE):
        database = sqlite3.connect(folder / DATABASE, timeout=1, isolation_level=None)
    try:
        with naming(folder / DATABASE):
            _lock(database, folder)
            _check_settings(database, folder, settings)
    except BaseException:
        database.close()
        raise
    return database


def _lock(database: sqlite3.Connection, folder: Path) -> None:
    try:
        database.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        raise ConfigurationError(f"{folder}: another process is writing there") from None


def _check_settings(database: sqlite3.Connection, folder: Path, settings: dict[str, str]) -> None:
    """Write the settings to a new database, or compare them with those of an interrupted run."""
    database.execute("CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT)")
    database.execute("CREATE TABLE IF NOT EXISTS progress (done INTEGER)")
    database.execute(
        "CREATE TABLE IF NOT EXISTS seen (digest BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID"
    )
    before = dict(database.execute("SELECT name, value FROM settings"))
    if not before:
        database.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())
        database.execute("INSERT INTO progress VALUES (0)")
    else:
        for name, value in settings.items():
            if before.get(name) != value:
                raise ConfigurationError(
                    f"{folder} holds an interrupted run with another setting of {name!r} "
                    f"({before.get(name)}, now {value}); delete the folder to start again"
                )


def _num_done(database: sqlite3.Connection, num_sentences: int, folder: Path) -> int:
    with naming(folder / DATABASE):
        found = database.execute("SELECT done FROM progress").fetchone()
    done = found[0] if found else None
    if not isinstance(done, int) or not 0 <= done <= num_sentences:
        raise _damaged(folder / DATABASE, f"it counts {done} of {num_sentences} sentences as done")
    return done
