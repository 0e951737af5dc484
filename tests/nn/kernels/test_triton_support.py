import logging
import os
import sys
from types import SimpleNamespace

import pytest
import torch

from allennlp_sentmatch.nn import kernels
from allennlp_sentmatch.nn.kernels import triton_support
from allennlp_sentmatch.nn.kernels.triton_support import takes_triton

KERNEL = "controlled_recurrence_triton"


@pytest.fixture
def first_answer():
    """Nothing is known of any device yet, and nothing will be afterwards."""
    triton_support._compiles_on.cache_clear()
    yield
    triton_support._compiles_on.cache_clear()


@pytest.fixture
def interpreted(monkeypatch, first_answer):
    monkeypatch.setenv("TRITON_INTERPRET", "1")


def use_kernel(monkeypatch, read):
    module = SimpleNamespace(read=read, HAS_TRITON=True)
    monkeypatch.setitem(sys.modules, f"{kernels.__name__}.{KERNEL}", module)
    monkeypatch.setattr(kernels, KERNEL, module, raising=False)


@pytest.mark.usefixtures("first_answer")
def test_a_cpu_does_not_take_them(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    use_kernel(monkeypatch, lambda *_: pytest.fail("tried a kernel"))
    assert not takes_triton(torch.empty(1))


@pytest.mark.usefixtures("interpreted")
def test_a_kernel_is_tried_once(monkeypatch):
    tried = []
    use_kernel(monkeypatch, lambda *tensors: tried.append(tensors))
    assert takes_triton(torch.empty(1))
    assert takes_triton(torch.empty(2))
    assert len(tried) == 1


@pytest.mark.usefixtures("interpreted")
def test_without_triton_there_are_none(monkeypatch, caplog):
    monkeypatch.delitem(sys.modules, f"{kernels.__name__}.{KERNEL}", raising=False)
    monkeypatch.delattr(kernels, KERNEL, raising=False)
    monkeypatch.setitem(sys.modules, "triton", None)  # importing it now raises ImportError
    assert not takes_triton(torch.empty(1))
    assert not caplog.records


@pytest.mark.usefixtures("interpreted")
def test_a_failure_is_told_and_torch_takes_over(monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("Failed to find C compiler.")

    use_kernel(monkeypatch, fail)
    with caplog.at_level(logging.WARNING):
        assert not takes_triton(torch.empty(1))
        assert not takes_triton(torch.empty(1))
    assert [record.getMessage() for record in caplog.records] == [
        "No Triton kernels on cpu, torch's operations instead: Failed to find C compiler."
    ]


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="see `make test-triton`")
def test_triton_is_interpreted_here():
    """Else the other tests of `make test-triton` would be of torch's operations."""
    assert takes_triton(torch.empty(1))
