"""Tests of the matrix that `make test-portable` runs; the matrix itself takes over an hour."""

import pytest
import torch

from scripts import run_portable_tests as portable


@pytest.mark.skipif(not hasattr(torch.backends, "cpu"), reason="torch 1.12 does not tell it")
@pytest.mark.parametrize(
    ("newest", "names"),
    [
        ("AVX512", ["default", "avx2", "avx512"]),
        ("AVX2", ["default", "avx2"]),
        ("DEFAULT", ["default"]),
        ("an architecture without these names", ["default"]),
    ],
)
def test_the_matrix_goes_as_far_as_the_cpu(monkeypatch, newest, names):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: newest)
    *matrix, busy = portable.runs()
    expected = [(name, threads, False) for name in [*names, None] for threads in (1, 2)]
    assert [(values[0], *rest) for values, *rest in matrix] == expected
    assert busy == ((None, None, None), 2, True)
