"""The ways in which kernels read their steps on a CPU."""

import pytest
import torch

from allennlp_sentmatch.nn.kernels import compiled_support

NO_COMPILER = "the package was installed without a compiler"
NEEDS_COMPILED = pytest.mark.skipif(not compiled_support.IS_COMPILED, reason=NO_COMPILER)
WAYS = ["compiled", "compiled, in three threads", "torch"]


def read_by(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have kernels read their steps in one of `WAYS`."""
    if way == "torch":
        monkeypatch.setattr(compiled_support, "IS_COMPILED", False)
    elif not compiled_support.IS_COMPILED:
        pytest.skip(NO_COMPILER)
    elif way == "compiled, in three threads":
        monkeypatch.setattr(compiled_support, "MIN_NUMBERS", 0)
        monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
