"""Sentences about mistakes of users, for programs with and without AllenNLP."""

import errno
import os
from typing import Optional


def sentence_about(error: BaseException) -> Optional[str]:
    """Return a sentence about a file or a package that is missing, or `None` for other errors."""
    if isinstance(error, OSError):
        return _about_a_file(error)
    if isinstance(error, ModuleNotFoundError):
        if error.name is None:  # the message says what to type
            return str(error)
        package = error.name.partition(".")[0]
        return f"the package {package} is not installed; install it with: pip install {package}"
    return None


def _about_a_file(error: OSError) -> Optional[str]:
    """Return a sentence about a file, or about an output that cannot be written.

    It is `None` for an error of the system that is not about a file.
    """
    name = error.filename2 or error.filename  # the second one is the copy
    if name is not None:
        return f"{os.fsdecode(name)}: {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EPIPE):
        return f"the output cannot be written: {error.strerror}"
    if isinstance(error, FileNotFoundError):  # a path or URL was not found
        return str(error)
    return None
