"""The backends of recurrences on a CPU."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from allennlp_sentmatch.nn.ops import backends
from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.common import native

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
    """Run recurrences by one of `BACKENDS`, or of `backends.Name`."""
    name, _, threads = backend.partition(", ")
    with use_backend(name), pytest.MonkeyPatch.context() as patch:
        if threads:
            patch.setattr(native, "MIN_NUMBERS", 0)
            patch.setattr(torch, "get_num_threads", lambda: 3)
        yield


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """The backend of the test; parametrize it indirectly."""
    with run_by(request.param):
        yield request.param
