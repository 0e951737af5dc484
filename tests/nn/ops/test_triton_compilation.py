"""That the Triton kernels compile for GPUs, which need not be there.

Encoders run as on a GPU, with arguments bound and specialized as for a launch, but in place of
launches there is the compilation, down to the GPU's machine code. What kernels compute is tested by
`TRITON_INTERPRET=1`; see `make test-triton`.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest
import torch

from allennlp_sentmatch.nn import CellAwareLSTM, use_backend
from tests.simulated_device import NOT_LAUNCHED, TorchDispatchMode

triton = pytest.importorskip("triton", reason="Triton is not installed; see `make test-triton`")
if os.environ.get("TRITON_INTERPRET") == "1":
    pytest.skip("Triton interprets its kernels here", allow_module_level=True)

B, T, D, H = 4, 5, 16, 300
ENCODERS = {
    "CAS-LSTM": lambda: CellAwareLSTM(D, H, num_layers=2, bidirectional=True),
    "CAS-LSTM, trainable lambda": lambda: CellAwareLSTM(
        D, H, num_layers=2, vertical_weight="trainable"
    ),
    "CAS-LSTM, peephole": lambda: CellAwareLSTM(D, H, num_layers=2, vertical_gate="peephole"),
}


class Device:
    """As much of a GPU as compiling needs to know."""

    def __init__(self, compute_capability):
        self.target = triton.backends.compiler.GPUTarget("cuda", compute_capability, 32)

    def get_current_device(self):
        return self.target.arch

    def get_current_stream(self, device):
        return 0

    def get_current_target(self):
        return self.target


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """The kernels that would have been launched."""
    from triton.runtime.jit import JITFunction

    kernels = []
    run = JITFunction.run

    def compile_only(function, *args, warmup, **kwargs):
        kernel = run(function, *args, warmup=True, **kwargs)
        kernels.append(kernel)
        return kernel

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(JITFunction, "run", compile_only)
    # The backend takes tensors on the CPU for the interpreter's sake. The kernels were decorated
    # before, when nothing was to be interpreted.
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with use_backend("gpu"):
        yield kernels


@pytest.mark.parametrize("compute_capability", [75, 80, 90, 100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ENCODERS)
def test_kernels_compile(name, dtype, compute_capability, compiled, monkeypatch, tmp_path):
    monkeypatch.setattr(triton.runtime.driver, "_active", Device(compute_capability))
    encoder = ENCODERS[name]().to(dtype)
    inputs = torch.randn(B, T, D, dtype=dtype)
    encoder(inputs, torch.ones(B, T, dtype=torch.bool)).sum().backward()
    assert {kernel.metadata.name for kernel in compiled} == {"_forward_step", "_backward_step"}
    for kernel in compiled:
        assert kernel.metadata.target.arch == compute_capability
        assert kernel.asm["cubin"].startswith(b"\x7fELF")
        assert_nothing_is_spilled(kernel.asm["ptx"], compute_capability, tmp_path)


def assert_nothing_is_spilled(ptx, compute_capability, tmp_path):
    """By ptxas, if Triton's wheel has it."""
    from triton.backends.nvidia.compiler import get_ptxas

    ptxas = get_ptxas(compute_capability).path
    if not Path(ptxas).is_file():
        return
    architecture = re.search(r"^\.target (\w+)", ptx, re.MULTILINE)[1]
    (tmp_path / "kernel.ptx").write_text(ptx)
    report = subprocess.run(
        [ptxas, "-v", f"--gpu-name={architecture}", "kernel.ptx", "-o", "kernel.cubin"],
        cwd=tmp_path,
        check=True,
        stderr=subprocess.PIPE,
        text=True,
    ).stderr
    spills = re.findall(r"(\d+) bytes spill (?:stores|loads)", report)
    assert set(spills) == {"0"}, report


class Operations(TorchDispatchMode):
    """Counts torch's operations other than views, each of which is a launch at least."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.__name__.split(".")[0]
        self.count += not (function.is_view or name in NOT_LAUNCHED)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", ENCODERS)
def test_at_most_five_launches_for_a_step_of_a_layer(name, compiled, monkeypatch):
    """A product and a kernel forward, and backward, in both directions together."""
    monkeypatch.setattr(triton.runtime.driver, "_active", Device(90))
    encoder = ENCODERS[name]()

    def launches(num_tokens):
        inputs = torch.randn(B, num_tokens, D)
        compiled.clear()
        with Operations() as operations:
            encoder(inputs).sum().backward()
        assert len(compiled) == 2 * 2 * num_tokens  # the kernels of two layers
        return operations.count + len(compiled)

    assert launches(18) - launches(8) <= 10 * 2 * 5
