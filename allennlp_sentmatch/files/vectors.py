"""Sentence vectors in NumPy's files."""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.files.digests import (
    content_digest,
    ending,
    ending_digest,
    is_damaged,
    sentences_digest,
)
from allennlp_sentmatch.files.folders import AnyPath, partial_path
from allennlp_sentmatch.files.lines import local_path
from allennlp_sentmatch.files.row import Source


def map_vectors(file_path: AnyPath) -> Array:
    """Return the vectors (N, E) of a `.npy` file, such as `sentmatch encode` writes, mapped from
    the file.

    A file of `sentmatch encode` is first read once, for the digest of its content.

    Raise `FileNotFoundError` for a path that does not exist, and `ValueError` for a file of
    anything but rows of floating-point numbers, and for a file that has changed.
    """
    source = Source(file_path)
    local = local_path(file_path)
    try:
        vectors: Array = numpy.load(local, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    # Any header may occur, and NumPy's message recommends allow_pickle.
    except Exception:
        raise ValueError(
            f"{source} is not a whole NumPy file of numbers (.npy), such as `sentmatch encode` "
            "writes"
        ) from None
    if not isinstance(vectors, numpy.ndarray):
        raise ValueError(f"{source} holds several arrays (.npz); expected one (.npy)")
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or vectors.shape[1] == 0:
        raise ValueError(
            f"{source} holds an array of {vectors.dtype} of shape {vectors.shape}; expected "
            "floating-point numbers, a row for each sentence"
        )
    if is_damaged(local):
        raise ValueError(
            f"{source} is not as it was written: its digest is another; encode the sentences again"
        )
    return vectors


def save_array(path: Path, array: Array) -> None:
    """Write a `.npy` file atomically, with a digest of its content; see `is_whole`.

    Missing folders are made, and an existing file is replaced.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_path(path)
    try:
        with open(partial, "w+b") as file:
            numpy.save(file, array, allow_pickle=False)
            file.write(ending(content_digest(file)))
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def check_sentences(
    sentences: Iterable[str],
    file_path: AnyPath,
    remedy: str = "encode them again",
) -> None:
    """Compare sentences with the digest in a file of vectors, or in an index of them.

    Files from other programs and earlier versions have no digest, and are not checked.

    Raise `ValueError`, which ends with the `remedy`, if they differ in any character or in their
    order, or if the digest is damaged.
    """
    if ending_digest(file_path) is not None:
        check_digest(sentences_digest(sentences).hexdigest(), file_path, remedy)


def check_digest(digest: str, file_path: AnyPath, remedy: str) -> None:
    """Compare the digest of sentences, 64 hexadecimal digits; see `check_sentences`."""
    if ending_digest(file_path) not in (None, digest):
        raise ValueError(
            f"{Source(file_path)} was made from other sentences, or from these before they were "
            f"changed, or is damaged; {remedy}"
        )
