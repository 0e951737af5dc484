"""Files from anybody, read without running anything in them, and folders that appear as a whole."""

import ctypes
import errno
import json
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Optional, Union


def read_file(path: Union[str, "os.PathLike[str]"]) -> bytes:
    """Read a file, but no device, pipe or folder, some of which have no end.

    # Raises

    `ValueError` for something else than a file; `OSError` if it does not exist or cannot be read.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(f"{path} is not a regular file")
    return Path(path).read_bytes()


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a JSON object; a `ValueError` names the file."""
    content = read_file(path)
    try:
        value = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON in UTF-8: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path}: expected an object")
    return value


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON that people can read."""
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", "utf-8")


@contextmanager
def errors_name(path: Path) -> Iterator[None]:
    """Let errors begin with the name of the file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


@contextmanager
def written_folder(
    folder: Union[str, "os.PathLike[str]"], replaces: Optional[str] = None
) -> Iterator[Path]:
    """Write a folder beside its place, and move it there once it is whole.

    Yields the temporary folder, which is deleted after an error. Of two processes that write to
    one place, one fails.

    # Parameters

    folder : `Union[str, os.PathLike]`
        Its place, where nothing, or an empty folder, may be.
    replaces : `str`, optional (default = `None`)
        The name of a file: a folder with this file may be there, too, and is replaced. Files in it
        that the new folder lacks are kept.

    # Raises

    `ValueError` if anything else is there; `OSError`, which names the file, if one cannot be
    written, as on a full disk. What was there before is then still there.
    """
    place = Path(os.path.realpath(folder))
    taken = ValueError(f"{folder} exists already; delete it or name another folder")
    before = os.stat(place) if replaces is not None and (place / replaces).is_file() else None
    if before is None and place.exists() and not (place.is_dir() and not any(place.iterdir())):
        raise taken
    temporary = place.with_name(f"{place.name}.{uuid.uuid4().hex}.partial")
    temporary.mkdir(parents=True)
    try:
        yield temporary
        if before is None:
            try:
                os.rename(temporary, place)
            except OSError as error:
                raise taken if error.errno in (errno.ENOTEMPTY, errno.EEXIST) else error from None
            return
        for kept in place.iterdir():
            if not (temporary / kept.name).exists():
                copy: Any = shutil.copytree if kept.is_dir() else shutil.copy2
                copy(kept, temporary / kept.name)
        if not os.path.samestat(before, os.stat(place)):
            raise ValueError(f"another process has written {folder} in the meantime")
        _exchange(temporary, place)
    except OSError as error:
        # An error in the middle of a file does not name it; the newest file is the one.
        files = sorted(temporary.rglob("*"), key=lambda file: file.lstat().st_mtime_ns)
        name = str(error.filename or [temporary, *files][-1])
        name = name.replace(str(temporary), str(folder))
        raise OSError(error.errno, error.strerror or str(error), name) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _exchange(first: Path, second: Path) -> None:
    """Give two folders each other's names: on Linux in one step, which a kill cannot divide."""
    try:
        library = ctypes.CDLL(None)
        arguments = (-100, os.fsencode(first), -100, os.fsencode(second), 2)  # see renameat2(2)
        if library.renameat2(*arguments) == 0:
            return
    except (AttributeError, OSError, TypeError):
        pass
    between = first.with_suffix(".old")
    os.rename(second, between)
    os.rename(first, second)
    os.rename(between, first)
