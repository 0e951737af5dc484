"""The backends of recurrences on a CPU."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from allennlp_sentmatch.nn.ops import backends
from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.common import native
from allennlp_sentmatch.nn.ops.common.products import Products
from allennlp_sentmatch.nn.ops.subilstm import cpu_cells, recurrence, schedule

NEEDS_COMPILED = pytest.mark.skipif(
    not backends.COMPILED, reason="the package was installed without a compiler"
)
CPU_BACKENDS = [
    pytest.param("cpu", marks=NEEDS_COMPILED),
    pytest.param("cpu, in three threads", marks=NEEDS_COMPILED),
]
BACKENDS = [*CPU_BACKENDS, "eager"]


@contextmanager
def run_by(backend: str) -> Iterator[None]:
    """Run recurrences by one of `BACKENDS`, or of `backends.Name`; perhaps "in chunks" of steps."""
    name, _, option = backend.partition(", ")
    with use_backend(name), pytest.MonkeyPatch.context() as patch:
        if option == "in three threads":
            patch.setattr(native, "MIN_NUMBERS", 0)
            patch.setattr(torch, "get_num_threads", lambda: 3)
        elif option == "in chunks":  # computed again in the backward pass, where that is possible
            patch.setattr(schedule, "ROWS_PER_CHUNK", 5)
            patch.setattr(recurrence, "MAX_SAVED_BYTES", 0)
            for cell in (cpu_cells.NativeLSTMCell, cpu_cells.NativeGRUCell):
                patch.setattr(cell, "max_rows", 5)
        yield


def record_products(patch: pytest.MonkeyPatch) -> list[tuple[int, tuple[int, ...]]]:
    """A list that receives the rows and the weight's shape of each later product."""
    found = []
    linear = Products.linear
    add_products = Products.add_products

    def recorded_linear(x, weight, bias=None):
        found.append((len(x), tuple(weight.shape)))
        return linear(x, weight, bias)

    def recorded_add_products(out, x, weights):
        found.append((x.size(1), tuple(weights.shape)))
        add_products(out, x, weights)

    patch.setattr(Products, "linear", staticmethod(recorded_linear))
    patch.setattr(Products, "add_products", recorded_add_products)
    return found


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """The backend of the test; parametrize it indirectly."""
    with run_by(request.param):
        yield request.param
