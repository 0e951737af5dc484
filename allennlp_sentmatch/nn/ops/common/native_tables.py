"""The tables and threads of the steps compiled from C++.

The C++ gets addresses. It runs on torch's own threads if they belong to an OpenMP library with
GNU's interface, as on Linux, and else on one thread.
"""

import ctypes
from typing import Optional

import torch

#: Work on fewer elements is done by one thread, before others would have begun.
MIN_NUMBERS = 2**14


def address(table: Optional[torch.Tensor], shape: tuple[int, ...], like: torch.Tensor) -> int:
    """The address of a table for C++, which trusts it; 0 without a table.

    # Raises

    `ValueError`
        If the table is not contiguous, or differs from `shape` or in precision or device from
        `like`.
    """
    if table is None:
        return 0
    if table.shape != shape or table.dtype != like.dtype or table.device != like.device:
        raise ValueError(
            f"expected a table {shape} of {like.dtype} on {like.device}, "
            f"got {tuple(table.shape)} of {table.dtype} on {table.device}"
        )
    if table.device.type != "cpu" or not table.is_contiguous():
        raise ValueError(f"expected a contiguous table on the CPU, got strides {table.stride()}")
    return table.data_ptr()


def precision_and_threads(like: torch.Tensor) -> tuple[int, int, int, int]:
    """The first four arguments of a `bind` function, for tables of the precision of `like`.

    They are 1 for float64 and 0 for float32; the address of GOMP_parallel; the number of threads;
    and the number of elements from which on a step uses them. `_binding.h` reads them.
    """
    return int(like.dtype == torch.float64), GOMP_PARALLEL, num_threads(), MIN_NUMBERS


def num_threads() -> int:
    """The number of threads that share work: torch's, or one if they cannot be used."""
    return torch.get_num_threads() if GOMP_PARALLEL else 1


def threads(numbers: int) -> tuple[int, int]:
    """The address of GOMP_parallel, and the number of threads for work on this many elements.

    The work is for one thread or for all: OpenMP ends and starts threads between calls with
    different numbers of them.
    """
    return GOMP_PARALLEL, torch.get_num_threads() if GOMP_PARALLEL and numbers >= MIN_NUMBERS else 1


def _find_parallel() -> int:
    """The address of GOMP_parallel in what torch has loaded, or 0."""
    try:
        function = ctypes.CDLL(torch._C.__file__).GOMP_parallel
    except (OSError, AttributeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


GOMP_PARALLEL = _find_parallel()
