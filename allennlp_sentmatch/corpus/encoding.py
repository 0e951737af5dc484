"""Encoding a corpus of any size into a `.npy` file, interruptible at any moment."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Union

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from numpy.lib.format import open_memmap

from allennlp_sentmatch.predictors.sentence_encoder import FloatArray, SentenceEncoder


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
    corpus once. Until all is done, the work lies in the folder `{output_file}.partial`. Called
    again after an interruption, even by `kill -9`, the function goes on with the first unfinished
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

    `ConfigurationError` if `output_file` exists, if an interrupted run had other sentences, another
    fingerprint or other sizes, or if another process is writing the same file.
    """
    for name, size in (("batch_size", batch_size), ("block_size", block_size)):
        if size < 1:
            raise ConfigurationError(f"{name} must be at least 1, got {size}")
    output = Path(output_file)
    if output.exists():
        raise ConfigurationError(f"{output} exists already; delete it or name another file")
    num_sentences, corpus_digest = _survey(sentences())
    folder = output.with_name(output.name + ".partial")
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
        done = _num_done(database)
        if done == 0:
            size = encoder.encode([], show_progress=False).shape[1]
            open_memmap(vectors_file, "w+", numpy.float32, (num_sentences, size)).flush()
        rest = islice(sentences(), done, None)
        with Tqdm.tqdm(
            total=num_sentences,
            initial=done,
            desc="encoding",
            unit=" sentences",
            disable=not show_progress,
        ) as progress:
            while done < num_sentences:
                block = list(islice(rest, block_size))
                # Mapped anew for each block, so that the pages written before can leave memory.
                vectors = open_memmap(vectors_file, "r+")
                _encode_block(encoder, block, done, vectors, database, batch_size)
                done += len(block)
                progress.update(len(block))
    finally:
        database.close()
    os.replace(vectors_file, output)
    shutil.rmtree(folder)


def _encode_block(
    encoder: SentenceEncoder,
    block: list[str],
    start: int,
    vectors: "numpy.memmap[Any, Any]",
    database: sqlite3.Connection,
    batch_size: int,
) -> None:
    """Fill the rows from `start` on; afterwards the database counts them as done."""
    rows: list[int] = []  # for each sentence, the row of the first one like it
    new: dict[bytes, int] = {}  # digest of a sentence not met in earlier blocks: its first row
    for row, sentence in enumerate(block, start=start):
        digest = hashlib.sha256(_encoded(sentence)).digest()
        found = database.execute("SELECT row FROM seen WHERE digest = ?", (digest,)).fetchone()
        rows.append(found[0] if found else new.setdefault(digest, row))
    first_rows = list(new.values())
    if first_rows:
        encoded: FloatArray = encoder.encode(
            [block[row - start] for row in first_rows], batch_size, show_progress=False
        )
        vectors[first_rows] = encoded
    for row, first in enumerate(rows, start=start):
        if row != first:
            vectors[row] = vectors[first]
    vectors.flush()  # before the rows are counted as done
    database.executemany("INSERT INTO seen VALUES (?, ?)", new.items())
    database.execute("UPDATE progress SET done = ?", (start + len(block),))
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
    database = sqlite3.connect(folder / "progress.sqlite", timeout=1, isolation_level=None)
    try:
        database.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        database.close()
        raise ConfigurationError(f"{folder}: another process is at work there") from None
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
            if before[name] != value:
                database.close()
                raise ConfigurationError(
                    f"{folder} holds an interrupted run with another setting of {name!r} "
                    f"({before[name]}, now {value}); delete the folder to begin anew"
                )
    return database


def _num_done(database: sqlite3.Connection) -> int:
    done: int = database.execute("SELECT done FROM progress").fetchone()[0]
    return done
