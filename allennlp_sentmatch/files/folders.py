"""Read untrusted files without running anything, and write files atomically."""

import errno
import gzip
import io
import json
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, TextIO, Union

AnyPath = Union[str, os.PathLike[str]]


def read_file(path: AnyPath) -> bytes:
    """Read a file.

    Raise `ValueError` for a folder, and for a device or a pipe, which may have no end.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(f"{path} is not a regular file")
    return Path(path).read_bytes()


def read_json(path: Path) -> Any:
    """Read JSON in UTF-8.

    Raise `ValueError`, which names the file, for anything else, also if it is nested too deeply.
    """
    return _parsed(path, read_file(path))


def _parsed(path: Path, content: bytes) -> Any:
    """Return a file's content as JSON; see `read_json`."""
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON in UTF-8: {error}") from error


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a JSON object; raise `ValueError`, which names the file, for anything else."""
    return parsed_json_object(path, read_file(path))


def parsed_json_object(path: Path, content: bytes) -> dict[str, Any]:
    """Return the JSON object that a file's content is; see `read_json_object`."""
    value = _parsed(path, content)
    if not isinstance(value, dict):
        raise ValueError(f"{path}: expected an object")
    return value


def is_outside(path: str) -> bool:
    """Return whether a path from anybody leads out of its folder: it is absolute or has ".."."""
    return PurePath(path).is_absolute() or ".." in PurePath(path).parts


def nested_objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects in JSON, at any depth, each before the objects in it."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            yield value
            values += value.values()
        elif isinstance(value, list):
            values += value


def nested_settings(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of all settings in JSON, at any depth."""
    for one in nested_objects(value):
        yield from one.items()


def write_json(path: Path, value: Any) -> None:
    """Write a value as readable JSON in UTF-8. A whole file replaces an existing one."""
    with _moved(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", "utf-8")


@contextmanager
def errors_name(name: Union[str, Path]) -> Iterator[None]:
    """Turn errors of untrusted values into a `ValueError` that begins with their name.

    These are `RuntimeError`, which torch raises, `TypeError` and `ValueError`.
    """
    try:
        yield
    except (RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error


def check_absent(path: AnyPath, kind: str = "file") -> None:
    """Raise `ValueError` if an output, of the `kind` "file" or "folder", exists already.

    It is also raised if the folder of a file does not exist or is read-only; parents of a folder
    are made later.
    """
    if os.path.exists(path):
        if not os.path.isfile(path) and not os.path.isdir(path):
            raise ValueError(f"{path} is a pipe or a device; name a new {kind}")
        raise ValueError(f"{path} exists already; delete it or name another {kind}")
    parent = Path(os.path.realpath(path)).parent
    if kind == "file" and not (parent.is_dir() and os.access(parent, os.W_OK)):
        raise ValueError(f"the folder of {path} does not exist, or nothing may be written there")


def partial_path(place: Path) -> Path:
    """Return a new path beside `place`, for a file or folder that is moved there when whole."""
    return place.with_name(f"{place.name}.{uuid.uuid4().hex}.partial")


@contextmanager
def written_text(path: AnyPath) -> Iterator[TextIO]:
    """Yield a new text file, which is moved to its place once it is whole.

    It is compressed if its name ends with ".gz".

    Raise `ValueError` if the file exists, now or at the end, and `OSError`, which names the file,
    if it cannot be written. After an error, there is no file.
    """
    check_absent(path)
    with _moved(path) as temporary:
        with _new_text(temporary, os.path.basename(os.path.realpath(path))) as file:
            yield file
        check_absent(path)  # another process may have written it meanwhile


@contextmanager
def _moved(path: AnyPath) -> Iterator[Path]:
    """Yield the path of a temporary file, which is moved to its place at the end.

    An error removes the temporary file. An `OSError` about it names the `path`.
    """
    place = Path(os.path.realpath(path))  # a symbolic link stays one
    temporary = partial_path(place)
    try:
        yield temporary
        os.replace(temporary, place)
    except OSError as error:
        is_ours = error.filename in (None, os.fspath(temporary))
        if error.errno is None or not is_ours:  # the error may be about another file
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _new_text(temporary: Path, name: str) -> Iterator[TextIO]:
    """Yield a new text file in UTF-8, which is compressed if its final `name` ends with ".gz"."""
    if not name.endswith(".gz"):
        with open(temporary, "w", encoding="utf-8") as file:
            yield file
        return
    with open(temporary, "wb") as compressed:
        # Programs restore the name in the header, which must not be the temporary one.
        content = gzip.GzipFile(name, "wb", fileobj=compressed)
        with io.TextIOWrapper(content, "utf-8") as text:  # closes `content`, too
            yield text


@contextmanager
def written_folder(folder: AnyPath) -> Iterator[Path]:
    """Yield a temporary folder, which is moved to its place once it is whole.

    If two processes write to the same place, one of them fails. After an error, there is no folder.

    Raise `ValueError` unless the place is absent or an empty folder, and `OSError`, which names the
    file, if a file cannot be written.
    """
    place = Path(os.path.realpath(folder))
    if not place.is_dir() or any(place.iterdir()):
        check_absent(folder, "folder")
    if place == Path.cwd():
        raise ValueError(f"{folder} is the current folder, which is not replaced; name another one")
    temporary = partial_path(place)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        os.rename(temporary, place)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            check_absent(folder, "folder")
        if error.errno is None:  # errors that are not about the disk
            raise
        # An error in the middle of a file does not name it: take the newest file.
        files = sorted(temporary.rglob("*"), key=lambda file: file.lstat().st_mtime_ns)
        newest = files[-1] if files else temporary
        name = str(error.filename or newest).replace(str(temporary), str(folder))
        raise OSError(error.errno, error.strerror or str(error), name) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
