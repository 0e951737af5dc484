"""Files from anybody, read without running anything in them."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Union


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


@contextmanager
def errors_name(path: Path) -> Iterator[None]:
    """Let errors begin with the name of the file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
