"""Standard input and output, pipes and devices, in place of files."""

import io
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TextIO

from allennlp_sentmatch.files.folders import check_absent, written_text

STANDARD_INPUT = ("-", "/dev/stdin")
STANDARD_OUTPUT = ("-", "/dev/stdout")


@contextmanager
def readable_twice(path: str) -> Iterator[str]:
    """Yield the path of a file that can be read more than once.

    The standard input ("-") and pipes are copied to a temporary file. A `ValueError` about the
    content names the given path, not the copy.
    """
    if path not in STANDARD_INPUT and not _is_pipe(path):
        yield path
        return
    with TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        with open(copy, "wb") as file:
            if path in STANDARD_INPUT:
                shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                with open(path, "rb") as pipe:
                    shutil.copyfileobj(pipe, file)
        try:
            yield copy
        except ValueError as error:
            raise ValueError(str(error).replace(copy, path)) from error


def check_writable(path: str) -> None:
    """Raise `ValueError` if an output file exists; streams always do."""
    if not is_written_stream(path):
        check_absent(path)


def is_written_stream(path: str) -> bool:
    """Return whether a path is the standard output, a pipe or a device."""
    if path in STANDARD_OUTPUT:
        return True
    is_usual = os.path.isfile(path) or os.path.isdir(path)
    return os.path.exists(path) and not is_usual


@contextmanager
def written(path: str) -> Iterator[TextIO]:
    """Yield an open output for a path: a file that appears once it is whole, or a stream.

    The text is in UTF-8. Raise `ValueError` if a file exists, and `OSError` if it cannot be
    written.
    """
    if path in STANDARD_OUTPUT:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # as in files
        yield sys.stdout
    elif is_written_stream(path):
        with open(path, "w", encoding="utf-8") as stream:
            yield stream
    else:
        with written_text(path) as file:
            yield file


def _is_pipe(path: str) -> bool:
    """Return whether a path is a pipe or a socket, which can be read only once."""
    if not os.path.exists(path):
        return False
    mode = os.stat(path).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
