"""The folder with the work of an encoding that is not complete yet."""

import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.text import shorten

VECTORS = "vectors.npy"
SETTINGS = "settings.json"
PARTIAL_SETTINGS = "settings.json.partial"
LOCK = "lock"


@contextmanager
def work_folder(output: Path, settings: dict[str, Any]) -> Iterator[Path]:
    """The folder `{output}.partial`, for this process and for work with these settings alone.

    At the end of the context, the file `VECTORS` in the folder becomes `output`, and the folder is
    deleted. After an error or an interruption, the folder stays.

    # Raises

    `ConfigurationError` if the folder cannot be written, is used by another process, is damaged, or
    holds the work of an interrupted run with other settings.
    """
    folder = output.absolute().with_name(f"{output.name}.partial")
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with naming(folder / LOCK):
        lock = open(folder / LOCK, "w")  # noqa: SIM115
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(f"{folder}: another process is writing there") from None
        with naming(folder / SETTINGS):
            _check_settings(folder, settings)
        yield folder
        with naming(folder / VECTORS):
            os.replace(folder / VECTORS, output)
            shutil.rmtree(folder)


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Name the file in errors of the disk and of a database that the next run makes again."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ConfigurationError(
            f"{file} cannot be written: {reason or error}; once this is resolved, the same "
            "command continues"
        ) from error


def damaged(file: Path, problem: str) -> ConfigurationError:
    """The error for a file that the work cannot continue with."""
    return ConfigurationError(
        f"{file} is damaged: {problem}; delete the folder {file.parent} to start again"
    )


def _check_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Write the settings of a new run, or compare them with those of an interrupted one."""
    path = folder / SETTINGS
    if not path.exists():
        if not {LOCK, PARTIAL_SETTINGS}.issuperset(os.listdir(folder)):
            raise ConfigurationError(
                f"{path} is missing, which says whose work the folder holds; delete the folder "
                f"{folder} to start again"
            )
        (folder / PARTIAL_SETTINGS).write_text(json.dumps(settings), encoding="utf-8")
        os.replace(folder / PARTIAL_SETTINGS, path)
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from error
    if not isinstance(before, dict):
        raise damaged(path, "it is not a JSON object")
    for name, value in settings.items():
        if before.get(name) != value:
            raise ConfigurationError(
                f"{folder} holds an interrupted run with another setting of {name!r} "
                f"({shorten(before.get(name))}, now {value}); delete the folder to start again"
            )
