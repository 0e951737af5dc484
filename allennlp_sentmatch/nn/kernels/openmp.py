"""The threads that compiled steps run on: torch's own, of the OpenMP library that it has loaded."""

import ctypes

import torch

#: Work on fewer numbers than these is done before other threads would have begun.
MIN_NUMBERS = 2**14


def _find_parallel() -> int:
    """The address of GOMP_parallel, or 0 where torch runs on another library."""
    try:
        function = ctypes.CDLL(torch._C.__file__).GOMP_parallel
    except (OSError, AttributeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


_PARALLEL = _find_parallel()


def threads(numbers: int) -> tuple[int, int]:
    """How to share work on so many numbers among threads, and among how many.

    That is one or all: between calls with different numbers of threads, some are ended and started.
    """
    return _PARALLEL, torch.get_num_threads() if _PARALLEL and numbers >= MIN_NUMBERS else 1
