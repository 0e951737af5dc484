"""The steps compiled from C++: their library, the arguments of its functions, and their threads.

A function gets the address of a structure, whose fields have the same names and order here as in
C++. The C++ code trusts them: `address` checks tables. Functions run without Python's lock, and
neither raise errors nor allocate memory. It runs on torch's own threads if they belong to an OpenMP
library with GNU's interface, as on Linux, and otherwise on one thread.
"""

import ctypes
import warnings
import zlib
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import Tensor

#: A single thread processes fewer elements, faster than others could start.
MIN_NUMBERS = 2**14
#: torch 1.12 has no `Tensor.is_cpu`, and comparing the types of devices takes four times as long.
CPU = torch.device("cpu")


def fields(numbers: str, tables: str) -> list[tuple[str, Any]]:
    """Return the fields of a structure: numbers, then the addresses of tables.

    Both arguments are names separated by spaces, in the order of the structure in C++.
    """
    of_numbers = [(name, ctypes.c_int64) for name in numbers.split()]
    of_tables = [(name, ctypes.c_void_p) for name in tables.split()]
    return [*of_numbers, *of_tables]


class Arguments(ctypes.Structure):
    """The arguments of a function; subclasses add `_fields_`.

    `like` is a tensor of the tables' precision. Fields are set as by `set`; unset fields are zero.
    """

    _fields_ = fields("parallel num_threads min_numbers", "")

    def __init__(self, like: Tensor, **values: Union[Tensor, int, None]) -> None:
        super().__init__(GOMP_PARALLEL, num_threads(), MIN_NUMBERS)
        self._like = like
        self._tables: dict[str, Tensor] = {}
        self._precision = "double" if like.dtype == torch.float64 else "float"
        self.set(**values)

    def set(self, **values: Union[Tensor, int, None]) -> None:
        """Set fields to numbers or to the addresses of tables, and keep the tables in memory.

        `None` is zero or a null pointer. Raise a `ValueError` for a table that `address` refuses.
        """
        for name, value in values.items():
            if isinstance(value, Tensor):
                self._tables[name] = value
                value = address(value, self._like)
            setattr(self, name, value or 0)

    def point(
        self,
        tables: "dict[str, Rows]",
        direction: int,
        row: int = 0,
    ) -> None:
        """Set fields to the addresses of a row of each table.

        `tables` has the rows of tables by the fields' names; `direction` and `row` are numbers.
        """
        for name, (first, by_direction, by_row, _) in tables.items():  # inlined: each step does it
            setattr(self, name, first and first + direction * by_direction + row * by_row)

    def run(self, function: str) -> None:
        """Call a function of the library with this structure.

        The name of the `function` lacks _float or _double, which the precision of `like` adds.
        """
        getattr(_library, f"{function}_{self._precision}")(ctypes.byref(self))


class Rows(NamedTuple):
    """The addresses of a table's rows, and the table, which is kept in memory.

    Without a table, all addresses are zero. `first` is the address of the first row; `by_direction`
    and `by_row` are the distances in bytes between directions and between rows.
    """

    first: int
    by_direction: int
    by_row: int
    table: Optional[Tensor]

    @classmethod
    def of(cls, table: Optional[Tensor], like: Tensor) -> "Rows":
        """Return the rows of a table (S, ..., width), checked as by `address`."""
        if table is None:
            return cls(0, 0, 0, None)
        by_row = table.size(-1) * table.element_size()
        by_direction = prod(table.shape[1:-1]) * by_row
        return cls(address(table, like), by_direction, by_row, table)

    def at(self, direction: int, row: int = 0) -> int:
        """Return the address of a row of a direction, or 0 without a table."""
        return self.first and self.first + direction * self.by_direction + row * self.by_row


def address(table: Tensor, like: Tensor) -> int:
    """Return the address of a table for C++, which trusts it.

    Raise a `ValueError` if the table is not contiguous or not on the CPU or, unless it holds
    integers, differs in precision from `like`.
    """
    if table.device != CPU or (table.is_floating_point() and table.dtype != like.dtype):
        raise ValueError(
            f"expected a table of {like.dtype} on the CPU, got {table.dtype} on {table.device}"
        )
    if not table.is_contiguous():
        raise ValueError(f"expected a contiguous table, got strides {table.stride()}")
    return table.data_ptr()


def num_threads() -> int:
    """Return the number of threads that share work: torch's, or one if they cannot be used."""
    return torch.get_num_threads() if GOMP_PARALLEL else 1


def _find_parallel() -> int:
    """Return the address of GOMP_parallel in the libraries that torch has loaded, or 0."""
    try:
        function = ctypes.CDLL(torch._C.__file__).GOMP_parallel
    except (OSError, AttributeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _checksum(folder: Path) -> Optional[int]:
    """Return the checksum of a folder's C++ sources, as in setup.py; `None` if it has none."""
    files = sorted(folder.glob("*.[ch]*"))
    return zlib.crc32(b"".join(map(Path.read_bytes, files))) if files else None


def _load() -> tuple[Optional[ctypes.CDLL], Optional[str]]:
    """Return the library or, if there is none, the reason."""
    spec = find_spec("allennlp_sentmatch.nn.ops.native._steps")
    if spec is None or spec.origin is None:
        return None, "the package was installed without a C++ compiler"
    try:
        library = ctypes.CDLL(spec.origin)
        checksum = _checksum(Path(spec.origin).parent)
        if checksum not in (None, ctypes.c_int64.in_dll(library, "sources").value):
            raise ValueError("they were compiled from other sources than the installed ones")
    except (OSError, ValueError) as error:  # the latter after updating a checkout
        reason = f"its compiled steps cannot be loaded ({error}); reinstall the package"
        warnings.warn(f'There is no backend "cpu": {reason}', RuntimeWarning, stacklevel=2)
        return None, reason
    return library, None


GOMP_PARALLEL = _find_parallel()
_library, why_missing = _load()
