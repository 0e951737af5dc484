"""Extracting archives from untrusted sources.

Importing this module replaces AllenNLP's extraction, which trusts the paths in an archive: all code
that opens an archive then uses `extract_archive`.
"""

import gzip
import logging
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.models import archival

from allennlp_sentmatch.files.folders import AnyPath

logger = logging.getLogger(__name__)

MAX_EXPANSION_VARIABLE = "SENTMATCH_MAX_EXPANSION"
"""The environment variable that sets how many times its own size an archive may unpack to."""

MAX_EXPANSION = 20.0
"""The default. Compression hardly shrinks trained weights, and text to about a quarter."""

ALWAYS_ALLOWED = 64 << 20
"""The unpacked bytes that any archive may have: a small model's weights can be mostly zeros."""


def extract_archive(archive_file: AnyPath, folder: AnyPath) -> None:
    """Extract an archive, each member after a check.

    A model's archive is a local, gzipped tar file, with only regular files and folders under
    relative paths. Files that were extracted before an error stay in the folder.

    Raise `ConfigurationError` for a member with an absolute path or with `..` in it, a link or a
    device; for an archive that unpacks to more than `SENTMATCH_MAX_EXPANSION` times its size (20 by
    default) and more than 64 MiB; and for a file that is not a gzipped tar.
    """
    expansion = _max_expansion()
    limit = max(int(expansion * os.path.getsize(archive_file)), ALWAYS_ALLOWED)
    too_large = (
        f"{archive_file} unpacks to more than {limit >> 20} MiB, which is suspicious for its size; "
        f"if it is what you expect, set the environment variable {MAX_EXPANSION_VARIABLE} to a "
        f"number larger than {expansion:g}"
    )
    # Python's filter checks again, in versions that have it.
    options: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    size = 0
    try:
        with gzip.open(archive_file) as file:
            # The stream is also limited, since a header can be as long as a file.
            reader: Any = _LimitedReader(file, limit, too_large)
            with tarfile.open(fileobj=reader, mode="r|") as archive:
                for member in archive:
                    _check_member(archive_file, member)
                    size += member.size
                    if size > limit:
                        raise ConfigurationError(too_large)
                    archive.extract(member, folder, set_attrs=False, **options)
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        raise ConfigurationError(
            f"{archive_file} cannot be read as an archive (model.tar.gz): {error}"
        ) from error


class _LimitedReader:
    """A file that refuses to give more than `limit` bytes."""

    def __init__(self, file: gzip.GzipFile, limit: int, message: str) -> None:
        self._file = file
        self._left = limit
        self._message = message

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ConfigurationError(self._message)
        return data


def _check_member(archive_file: AnyPath, member: tarfile.TarInfo) -> None:
    """Raise `ConfigurationError` for what does not belong into a model's archive."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        problem = "lies outside the archive"
    elif not (member.isreg() or member.isdir()):
        problem = "is neither a regular file nor a folder"
    else:
        return
    raise ConfigurationError(
        f"{archive_file}: the member {member.name!r} {problem}; a model's archive has regular "
        "files under relative paths only, so it was not extracted"
    )


def _max_expansion() -> float:
    """Return how many times its own size an archive may unpack to."""
    value = os.environ.get(MAX_EXPANSION_VARIABLE, str(MAX_EXPANSION))
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 1 <= number < float("inf"):
        raise ConfigurationError(
            f"{MAX_EXPANSION_VARIABLE} must be a number of at least 1, got {value!r}"
        )
    return number


@contextmanager
def extracted_archive(resolved_archive_file: AnyPath, cleanup: bool = True) -> Iterator[str]:
    """Yield a temporary folder with an archive's members; replaces AllenNLP's function.

    With `cleanup`, and after an error, the folder is removed at the end.
    """
    folder = tempfile.mkdtemp()
    try:
        logger.info("extracting %s to %s", resolved_archive_file, folder)
        extract_archive(resolved_archive_file, folder)
        yield folder
    except BaseException:
        cleanup = True
        raise
    finally:
        if cleanup:
            shutil.rmtree(folder, ignore_errors=True)


archival.extracted_archive = extracted_archive
