"""The files of an encoding that is not complete yet, which survive a kill.

They are in a folder beside the output: the vectors so far, the digests of the finished blocks, the
database of the sentences that were met, the settings, and the lock of the process that writes.
"""

import fcntl
import io
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from numpy.lib.format import write_array_header_1_0

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.files.digests import content_digest, ending
from allennlp_sentmatch.files.folders import read_json_object
from allennlp_sentmatch.files.messages import shorten

# The files of the folder with the work of an encoding that is not complete yet.
VECTORS = "vectors.npy"
DIGESTS = "digests"  # digests of the finished blocks
DATABASE = "seen.sqlite"
SETTINGS = "settings.json"
PARTIAL_SETTINGS = "settings.json.partial"
LOCK = "lock"

DIGEST_SIZE = 32


@contextmanager
def work_folder(output: Path, settings: dict[str, Any]) -> Iterator[Path]:
    """Lock the folder `{output}.partial` for this process and for work with these settings.

    At the end of the context, the file `VECTORS` in the folder becomes `output`, and the folder is
    deleted. After an error or an interruption, the folder stays. Raise `ValueError` if another
    process has the lock, if the folder has work with other settings, and if it cannot be written.
    """
    folder = output.absolute().with_name(f"{output.name}.partial")
    with naming(folder):
        folder.mkdir(exist_ok=True)
    with naming(folder / LOCK):
        lock = open(folder / LOCK, "w")  # noqa: SIM115
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"{folder}: another process is writing there") from None
        with naming(folder / SETTINGS):
            if output.exists() and not (folder / VECTORS).exists():
                _remove_finished_work(folder)
            _check_settings(folder, settings)
        yield folder
        with naming(folder / VECTORS):
            os.replace(folder / VECTORS, output)
            shutil.rmtree(folder)


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Raise `ValueError` with the file's name for errors of the disk and of the database.

    The next run makes the file again.
    """
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ValueError(
            f"{file} cannot be written: {reason or error}; once this is resolved, the same "
            "command continues"
        ) from error


def _remove_finished_work(folder: Path) -> None:
    """Delete the files of a run that was killed after moving its vectors, or before it had any."""
    for name in (DIGESTS, DATABASE, SETTINGS, PARTIAL_SETTINGS):
        (folder / name).unlink(missing_ok=True)


def _check_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Write the settings of a new run, or compare them with an interrupted run's.

    Raise `ValueError` if they differ, are damaged or are missing.
    """
    path = folder / SETTINGS
    remedy = f"delete the folder {folder} to start again"
    if not path.exists():
        if not {LOCK, PARTIAL_SETTINGS}.issuperset(os.listdir(folder)):
            raise ValueError(f"{path}, which says whose work this is, is missing; {remedy}")
        (folder / PARTIAL_SETTINGS).write_text(json.dumps(settings), encoding="utf-8")
        os.replace(folder / PARTIAL_SETTINGS, path)
        return
    try:
        before = read_json_object(path)
    except ValueError as error:
        raise ValueError(f"{error}; {remedy}") from error
    for name in {**before, **settings}:
        if before.get(name) != settings.get(name):
            raise ValueError(
                f"{folder} holds an interrupted run with another setting of {shorten(name)} "
                f"({shorten(before.get(name))}, now {settings.get(name)}); {remedy}"
            )


def open_database(path: Path) -> sqlite3.Connection:
    """Return an empty table of the sentences that were met. After an interruption, a new one is
    filled.
    """
    with naming(path):
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("CREATE TABLE seen (digest BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")
        database.execute("BEGIN")
    return database


class VectorsFile(NamedTuple):
    """A `.npy` file of vectors (N, E), float32, and the digest of their sentences at its end, after
    which `complete` writes a digest of the whole content.

    It is not memory-mapped: every page ever touched would count as this process's memory, and pages
    that two machines write to would be lost.
    """

    path: Path
    num_vectors: int
    vector_size: int
    sentences_digest: str

    def prepare(self) -> None:
        """Write everything but the vectors; missing vectors are zeros.

        Vectors that an earlier run has written stay.
        """
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(self._header)
            file.truncate(self._position(self.num_vectors))
            file.seek(0, os.SEEK_END)
            file.write(ending(self.sentences_digest))

    def complete(self) -> None:
        """Write the digest of the content at the end."""
        with open(self.path, "a+b") as file:
            digest = content_digest(file)
            write_to_disk(file, file.tell(), ending(digest))

    def read(self, rows: Sequence[int]) -> FloatArray:
        """Return the vectors (len(rows), E) of some rows; raise `OSError` if the file is short."""
        vectors = numpy.empty((len(rows), self.vector_size), numpy.float32)
        with open(self.path, "rb") as file:
            for vector, row in zip(vectors, rows):
                file.seek(self._position(row))
                if file.readinto(vector.data) != vector.nbytes:
                    raise OSError("it was shortened")
        return vectors

    def write(self, row: int, vectors: FloatArray) -> None:
        """Write vectors (B, E) from a row on."""
        with open(self.path, "r+b") as file:
            write_to_disk(file, self._position(row), vectors.tobytes())

    @property
    def _header(self) -> bytes:
        """The bytes before the vectors, in NumPy's format."""
        header = io.BytesIO()
        shape = (self.num_vectors, self.vector_size)
        write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": shape})
        return header.getvalue()

    def _position(self, row: int) -> int:
        """Return where the vector of a row begins in the file, in bytes."""
        return len(self._header) + row * self.vector_size * 4


def write_to_disk(file: Any, position: int, content: bytes) -> None:
    """Write bytes at a position, and wait until the disk has them."""
    file.seek(position)
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def finished_blocks(digests_file: Path) -> list[bytes]:
    """Return the digests of finished blocks, and remove anything else from the file.

    Each has `DIGEST_SIZE` bytes. Raise `ValueError` if the file cannot be read or written.
    """
    with naming(digests_file):
        content = digests_file.read_bytes() if digests_file.exists() else b""
        # An interruption may have left a part of a digest at the end.
        ends = range(DIGEST_SIZE, len(content) + 1, DIGEST_SIZE)
        digests = [content[end - DIGEST_SIZE : end] for end in ends]
        digests_file.write_bytes(b"".join(digests))
    return digests
