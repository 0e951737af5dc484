"""The choice of compiled steps and of their threads; each kernel has its own tests."""

import ctypes
import sys

import pytest
import torch

from allennlp_sentmatch.nn import CellAwareLSTM
from allennlp_sentmatch.nn.ops import backends
from allennlp_sentmatch.nn.ops.common import native
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedStep
from tests.conftest import CAN_COMPILE
from tests.nn.ops.conftest import NEEDS_COMPILED

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
PARALLEL = ctypes.CFUNCTYPE(None, FUNCTION, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)


@pytest.mark.skipif(not CAN_COMPILE, reason="there is no compiler")
def test_a_compiler_is_made_use_of():
    assert backends.COMPILED


@pytest.mark.skipif(
    sys.platform != "linux" or not torch.backends.openmp.is_available(),
    reason="torch runs on no OpenMP library with GNU's interface",
)
def test_torch_s_threads_are_found(monkeypatch):
    assert native.num_threads() == torch.get_num_threads()
    threads = []
    PARALLEL(native.GOMP_PARALLEL)(FUNCTION(threads.append), ctypes.c_void_p(7), 3, 0)
    assert threads == [7, 7, 7]
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    assert native.num_threads() == 4
    monkeypatch.setattr(native, "GOMP_PARALLEL", 0)
    assert native.num_threads() == 1


@NEEDS_COMPILED
@pytest.mark.parametrize("threads_had", [1, 2, 5])
def test_all_is_done_by_whatever_threads_there_are(monkeypatch, threads_had):
    """OpenMP may provide fewer threads than requested."""
    asked = []

    @PARALLEL
    def parallel(function, data, number, flags):
        asked.append(number)
        for _ in range(threads_had):
            function(data)

    torch.manual_seed(0)
    encoder = CellAwareLSTM(4, 3).double()
    inputs = torch.randn(7, 5, 4, dtype=torch.float64)
    inputs.requires_grad_()
    mask = torch.ones(7, 5, dtype=torch.bool)
    expected = encoder(inputs, mask)
    upstream = torch.randn_like(expected)
    expected_gradient = torch.autograd.grad(expected, inputs, upstream)
    monkeypatch.setattr(native, "MIN_NUMBERS", 0)
    monkeypatch.setattr(native, "GOMP_PARALLEL", ctypes.cast(parallel, ctypes.c_void_p).value)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 5)
    actual = encoder(inputs, mask)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
    gradient = torch.autograd.grad(actual, inputs, upstream)
    torch.testing.assert_close(gradient, expected_gradient, rtol=0, atol=1e-12)
    assert asked
    assert set(asked) == {5}
    asked.clear()
    monkeypatch.setattr(native, "MIN_NUMBERS", 2**14)
    encoder(inputs, mask)  # too little work for several threads
    assert not asked


def test_tables_are_checked_and_stay_in_memory():
    table = torch.zeros(2, 3, 5)
    like = torch.zeros(1)
    assert native.address(table, like) == table.data_ptr()
    assert native.address(table.long(), like)  # integers have their own precision
    for wrong in (table.double(), table.to("meta"), table.mT):
        with pytest.raises(ValueError, match="expected a"):
            native.address(wrong, like)
    rows = native.Rows.of(table, like)
    assert rows.at(1, 2) == table[1, 2].data_ptr()
    assert native.Rows.of(None, like).at(1, 2) == 0
    step = GatedStep(like, x=table, n=7)
    assert step.x == table.data_ptr()
    assert step.n == 7
    assert step.left is None
    step.set(x=None, left=table)
    assert step.x is None
    assert step.left == table.data_ptr()
