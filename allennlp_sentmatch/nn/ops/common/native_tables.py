"""How the steps compiled from C++ are called.

They get addresses, and run on torch's own threads where these are of an OpenMP library with GNU's
interface, as on Linux; elsewhere on one thread.
"""

import ctypes
from typing import Optional

import torch

#: Work on fewer numbers than these is done before other threads would have begun.
MIN_NUMBERS = 2**14


class Rows:
    """The addresses of the rows of a contiguous table (S, N, K) in direction `s`; 0 without one."""

    def __init__(self, table: Optional[torch.Tensor], s: int) -> None:
        self._first = 0 if table is None else table[s].data_ptr()
        self._step = 0 if table is None else table.stride(1) * table.element_size()

    def __getitem__(self, row: int) -> int:
        return self._first + row * self._step


def threads(numbers: int) -> tuple[int, int]:
    """How to share work on so many numbers among threads, and among how many.

    That is one or all: between calls with different numbers of threads, some are ended and started.
    """
    return _PARALLEL, torch.get_num_threads() if _PARALLEL and numbers >= MIN_NUMBERS else 1


def _find_parallel() -> int:
    """The address of GOMP_parallel in what torch has loaded, or 0."""
    try:
        function = ctypes.CDLL(torch._C.__file__).GOMP_parallel
    except (OSError, AttributeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


_PARALLEL = _find_parallel()
