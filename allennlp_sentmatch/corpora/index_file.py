"""Files of indexes: FAISS's own format, and after it what FAISS does not know.

After FAISS's bytes, a file has the numbers of its vectors at all positions if some vectors are
equal, the digest of the sentences if it is known, and the digest of all of this. FAISS's tools
read it as well.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy

from allennlp_sentmatch.array_types import IntArray
from allennlp_sentmatch.corpora.index_kinds import KINDS, IndexKind, faiss_library
from allennlp_sentmatch.files.digests import (
    ENDING_LENGTH,
    content_digest,
    ending,
    ending_digest,
    is_whole,
)
from allennlp_sentmatch.files.folders import AnyPath, check_absent, partial_path

logger = logging.getLogger(__name__)

POSITIONS_MARK = b"\nallennlp_sentmatch positions "
"""Follows the numbers of the vectors at all positions in a file, and precedes their count."""

COUNT_LENGTH = 16  # digits of this count

REMEDY = "name another file, to build the index there"


class SavedIndex(NamedTuple):
    """The contents of a file."""

    index: Any
    """FAISS's index of the distinct vectors."""
    kind: IndexKind
    numbers: Optional[IntArray]
    """(N,), see `DistinctVectors`."""
    is_mapped: bool


def write_index(
    path: AnyPath,
    index: Any,
    numbers: Optional[IntArray],
    sentences_digest: Optional[str],
    replace: bool,
) -> None:
    """Write FAISS's `index`, the `numbers` of its vectors, if any, and digests to a file.

    A file with this name is always complete; a symbolic link stays one. Raise `ValueError` if it
    exists and may not be replaced, or cannot be written.
    """
    path = Path(os.path.realpath(path))  # a symbolic link stays one
    partial = partial_path(path)
    try:
        faiss_library().write_index(index, os.fspath(partial))
        with open(partial, "a+b") as file:
            if numbers is not None:
                file.write(numbers.astype("<i8").tobytes())
                file.write(POSITIONS_MARK + b"%0*d" % (COUNT_LENGTH, len(numbers)))
            if sentences_digest is not None:
                file.write(ending(sentences_digest))
            file.write(ending(content_digest(file)))
        if not replace:
            check_absent(path)
        os.replace(partial, path)  # not by a hard link, which not all file systems have
    except RuntimeError as error:
        raise ValueError(f"{path} cannot be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)


def read_index(path: AnyPath, expected: Optional[IndexKind], mapped: bool) -> SavedIndex:
    """Read a file that `write_index` wrote; if `mapped`, map it into memory if FAISS can do that.

    Raise `ValueError` for any other or damaged file, and for another kind than the `expected` one.
    """
    faiss_library()  # if FAISS is missing, this error comes first
    kind = _kind_of_file(path)
    if expected is not None and expected.name != kind.name:
        raise ValueError(f"{path} is an index of kind {kind.name}, not {expected.name}; {REMEDY}")
    has_digest = _is_intact(path)
    # A file of an earlier version has no digest; it is not mapped, since FAISS crashes on mapped
    # files that end too early. Older releases of FAISS cannot map some kinds. `IO_FLAG_MMAP` would
    # map lists that FAISS can neither write again nor pickle.
    flag = 0
    if has_digest and mapped:
        flag = int(getattr(faiss_library(), "IO_FLAG_MMAP_IFC", 0))
    with naming_index(path):
        index = _read_faiss(path, flag)
        numbers = _read_numbers(path)
        if numbers is not None and len(numpy.bincount(numbers)) != index.ntotal:
            raise RuntimeError(f"its positions do not have {index.ntotal} vectors")
    return SavedIndex(index, kind, numbers, flag != 0)


@contextmanager
def naming_index(path: AnyPath) -> Iterator[None]:
    """Raise `ValueError` with the file's name and a remedy for the errors of a damaged index."""
    try:
        yield
    except (RuntimeError, MemoryError, ValueError, OSError) as error:
        raise ValueError(f"{not_an_index(path)}, or it is damaged: {error}; {REMEDY}") from error


def not_an_index(path: AnyPath) -> str:
    """Return the beginning of an error's message."""
    return f"{path} is not an index that `search` wrote"


def _kind_of_file(path: AnyPath) -> IndexKind:
    """Return the kind of a saved index, by the first bytes of its file.

    Raise `ValueError` for a file of other first bytes, or that cannot be read.
    """
    kinds = {row.magic: name for name, row in KINDS.items()}
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if magic not in kinds:
        raise ValueError(not_an_index(path))
    return IndexKind(kinds[magic])


def _is_intact(path: AnyPath) -> bool:
    """Return whether a file has a digest; raise `ValueError` if the digest is wrong."""
    if ending_digest(path) is None:
        logger.warning("%s has no digest of its content: nothing tells if it is damaged", path)
        return False
    if not is_whole(Path(path)):
        raise ValueError(f"{not_an_index(path)}, or it is damaged; {REMEDY}")
    return True


def _read_faiss(path: AnyPath, flag: int) -> Any:
    """Read FAISS's index from a file; a `RuntimeError` says why it is not one of this package's."""
    faiss = faiss_library()
    index = faiss.read_index(os.fspath(path), flag)
    if index.metric_type != faiss.METRIC_INNER_PRODUCT or index.d < 1:
        raise RuntimeError(f"it has a {type(index).__name__}")
    if hasattr(index, "invlists") and index.invlists.compute_ntotal() != index.ntotal:
        raise RuntimeError(f"its lists do not have {index.ntotal} vectors")
    return index


def _read_numbers(path: AnyPath) -> Optional[IntArray]:
    """Return the vector number of each position (N,), int64; `None` if no vectors are equal."""
    length_after = 2 * ENDING_LENGTH + len(POSITIONS_MARK) + COUNT_LENGTH
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        begin = file.seek(max(0, end - length_after))
        before, mark, after = file.read().rpartition(POSITIONS_MARK)
        if not mark:
            return None
        count = int(after[:COUNT_LENGTH])
        file.seek(begin + len(before) - 8 * count)
        return numpy.fromfile(file, "<i8", count).astype(numpy.int64)
