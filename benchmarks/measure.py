"""Time and memory of callables, interleaved, so that a busy moment falls on all of them."""

import ctypes
import gc
import re
import statistics
import time
from contextlib import suppress
from pathlib import Path
from typing import Callable, Optional

import torch
from torch import Tensor, nn

from allennlp_sentmatch.nn.ops.backends import use_backend

Forward = Callable[[Tensor], Tensor]


class Candidate:
    """A module as the benchmarks call it, from inputs (B, T, D) to one tensor.

    Its methods `forward` and `training` are what is measured.
    """

    def __init__(self, module: nn.Module, call: Forward) -> None:
        self.module = module
        self.call = call

    @classmethod
    def encoder(cls, module: nn.Module, mask: Tensor, fast: bool) -> "Candidate":
        """An encoder on its fast or on its plain path."""

        def call(inputs: Tensor) -> Tensor:
            with use_backend(None if fast else "naive"):
                outputs: Tensor = module(inputs, mask)
            return outputs

        return cls(module, call)

    @classmethod
    def lstm(cls, module: nn.LSTM) -> "Candidate":
        """A baseline, reading padding and all."""
        return cls(module, lambda inputs: module(inputs)[0])

    def forward(self, inputs: Tensor) -> None:
        """An evaluation, of which no gradient is taken."""
        self.module.eval()
        with torch.no_grad():
            self.call(inputs)

    def training(self, inputs: Tensor) -> None:
        """A forward and a backward pass, to the parameters and to the inputs."""
        self.module.train()
        self.module.zero_grad(set_to_none=True)
        self.call(inputs.detach().requires_grad_()).sum().backward()


def disagreement(module: nn.Module, inputs: Tensor, mask: Tensor) -> float:
    """How far the fast path is from the plain one, in norm and relative to it.

    Outputs and all gradients are compared, in training mode from the same random state. A single
    element may well differ by more than rounding: where two values are all but equal, rounding
    decides which of them is their maximum, to which the gradient goes.
    """
    results = []
    for fast in (True, False):
        torch.manual_seed(0)
        leaf = inputs.detach().requires_grad_()
        with use_backend(None if fast else "naive"):
            outputs = module.train()(leaf, mask)
        leaves = [leaf, *module.parameters()]
        gradients = torch.autograd.grad(outputs.square().sum(), leaves)
        results.append([outputs, *gradients])
    return max(
        ((ours - theirs).norm() / theirs.norm().clamp(min=1e-12)).item()
        for ours, theirs in zip(*results)
    )


def interleave(
    steps: dict[str, Callable[[], None]], seconds: float, device: torch.device
) -> dict[str, list[float]]:
    """Seconds that each step takes, in rounds over all of them until `seconds` have passed.

    There are three rounds at least. A first run of each warms it up and does not count, unless it
    takes longer than `seconds`: then it is the only one.
    """
    times = {name: [_run(step, device)] for name, step in steps.items()}
    again = [name for name, (first,) in times.items() if first <= seconds]
    for name in again:
        times[name].clear()
    start = time.perf_counter()
    num_rounds = 0
    while again and (num_rounds < 3 or time.perf_counter() - start < seconds):
        for name in again:
            times[name].append(_run(steps[name], device))
        num_rounds += 1
    return times


def _run(step: Callable[[], None], device: torch.device) -> float:
    _synchronize(device)
    start = time.perf_counter()
    step()
    _synchronize(device)
    return time.perf_counter() - start


def median_ratio(times: list[float], others: list[float]) -> float:
    """The median over rounds of one time by another of the same round."""
    return statistics.median(a / b for a, b in zip(times, others))


def keep_freed_memory() -> None:
    """Have the C library keep for itself what is freed, as torch does on a GPU, where it can.

    Otherwise the larger steps, ours and the baselines', would measure how fast the system hands
    out memory page by page, which in a virtual machine is slowly.
    """
    with suppress(OSError, AttributeError):  # of another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(-4, 0)  # M_MMAP_MAX: everything comes from the heap
        mallopt(-1, -1)  # M_TRIM_THRESHOLD: which never shrinks


def return_freed_memory() -> None:
    """Give back to the system what is free now, where that can be done."""
    gc.collect()
    with suppress(OSError, AttributeError):  # of another C library
        ctypes.CDLL(None).malloc_trim(0)


def peak_memory(step: Callable[[], None], device: torch.device) -> Optional[int]:
    """Bytes that a step holds at most beyond what was held before, if that can be told here."""
    return_freed_memory()  # or what an earlier step freed would not count
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        step()
        return torch.cuda.max_memory_allocated(device) - before
    try:
        Path("/proc/self/clear_refs").write_text("5")  # sets the peak back to the present
    except OSError:
        return None  # not Linux
    before = _status("VmRSS")
    step()
    return _status("VmHWM") - before


def _status(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    match = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    assert match is not None
    return int(match.group(1)) * 1024


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
