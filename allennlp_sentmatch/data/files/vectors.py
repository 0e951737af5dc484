"""Sentence vectors in NumPy's files."""

from typing import Any

import numpy
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.lines import PathOrStr, local_path
from allennlp_sentmatch.data.files.source import Source

Vectors = numpy.ndarray[Any, numpy.dtype[Any]]


def map_vectors(file_path: PathOrStr) -> Vectors:
    """The vectors (N, E) of a `.npy` file, such as `allennlp encode` writes, mapped from the file.

    # Raises

    `FileNotFoundError` for a path where there is nothing, `ConfigurationError` for a file of
    anything else than rows of floating-point numbers.
    """
    source = Source(file_path)
    try:
        vectors: Vectors = numpy.load(local_path(file_path), mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):  # their messages advise to allow pickles
        raise ConfigurationError(
            f"{source} is not a whole NumPy file of numbers (.npy), such as `allennlp encode` "
            "writes"
        ) from None
    if not isinstance(vectors, numpy.ndarray):
        raise ConfigurationError(f"{source} holds several arrays (.npz); expected one (.npy)")
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or vectors.shape[1] == 0:
        raise ConfigurationError(
            f"{source} holds an array of {vectors.dtype} of shape {vectors.shape}; expected "
            "floating-point numbers, a row for each sentence"
        )
    return vectors
