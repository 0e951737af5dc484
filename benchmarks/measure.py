"""Measure the time and memory of callables, interleaved so that other load affects all of them."""

import ctypes
import gc
import math
import re
import statistics
import time
from collections.abc import Hashable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Callable, Optional, TypeVar

import torch
from torch import Tensor, nn

from allennlp_sentmatch.nn.ops.backends import Name, use_backend

Forward = Callable[[Tensor], Tensor]
Step = TypeVar("Step", bound=Hashable)
"""The name of a step to time."""


class Candidate:
    """A module to measure, which maps inputs (B, T, D) to one tensor.

    The benchmarks time its methods `forward` and `training`.
    """

    def __init__(self, module: nn.Module, call: Forward) -> None:
        self.module = module
        self.call = call

    @classmethod
    def encoder(cls, module: nn.Module, mask: Tensor, backend: Optional[Name]) -> "Candidate":
        """Return an encoder with a backend, the default one if it is `None`."""

        def call(inputs: Tensor) -> Tensor:
            with use_backend(backend):
                outputs: Tensor = module(inputs, mask)
            return outputs

        return cls(module, call)

    @classmethod
    def lstm(cls, module: nn.LSTM) -> "Candidate":
        """Return a baseline, which reads the padding, too."""
        return cls(module, lambda inputs: module(inputs)[0])

    def forward(self, inputs: Tensor) -> None:
        """Run the module in evaluation mode, without gradients."""
        self.module.eval()
        with torch.no_grad():
            self.call(inputs)

    def training(self, inputs: Tensor) -> None:
        """Run a forward and a backward pass, to the parameters and to the inputs."""
        self.module.train()
        self.module.zero_grad(set_to_none=True)
        self.call(inputs.detach().requires_grad_()).sum().backward()


def disagreement(module: nn.Module, inputs: Tensor, mask: Tensor) -> float:
    """Return the default backend's largest relative difference, in norm, from the naive backend.

    Outputs and all gradients are compared, in training mode from the same random state. Single
    elements may differ by more than rounding: if two values are almost equal, rounding decides
    which of them is the maximum and receives the gradient.
    """
    results = []
    backends: tuple[Optional[Name], ...] = (None, "naive")
    for backend in backends:
        torch.manual_seed(0)
        leaf = inputs.detach().requires_grad_()
        with use_backend(backend):
            outputs = module.train()(leaf, mask)
        leaves = [leaf, *module.parameters()]
        gradients = torch.autograd.grad(outputs.square().sum(), leaves)
        results.append([outputs, *gradients])
    errors: list[float] = [
        ((ours - theirs).norm() / theirs.norm().clamp(min=1e-12)).item()
        for ours, theirs in zip(*results)
    ]
    return max(errors)


def interleave(
    steps: Mapping[Step, Callable[[], object]],
    seconds: float,
    device: torch.device,
    longest: float = math.inf,
) -> dict[Step, list[float]]:
    """Time the steps in turn until `seconds` have passed; return the seconds of every run.

    The first run of each step is a warm-up and does not count. There are at least three rounds. A
    step whose warm-up takes longer than `seconds` runs only in the first round, and a step whose
    warm-up takes longer than `longest` seconds in none.
    """
    warm_ups = {name: _run(step, device) for name, step in steps.items()}
    times: dict[Step, list[float]] = {name: [] for name in steps}
    again = [name for name, warm_up in warm_ups.items() if warm_up <= longest]
    start = time.perf_counter()
    num_rounds = 0
    while again and (num_rounds < 3 or time.perf_counter() - start < seconds):
        for name in again:
            times[name].append(_run(steps[name], device))
        num_rounds += 1
        again = [name for name in again if warm_ups[name] <= seconds]
    return times


def _run(step: Callable[[], object], device: torch.device) -> float:
    synchronize = torch.cuda.synchronize if device.type == "cuda" else str
    synchronize(device)
    start = time.perf_counter()
    step()
    synchronize(device)
    return time.perf_counter() - start


def processor_seconds(step: Callable[[], object]) -> float:
    """Return a step's processor time, which other processes affect less than wall-clock time."""
    start = time.process_time()
    step()
    return time.process_time() - start


def processor_times(
    steps: Mapping[Step, Callable[[], object]], rounds: int
) -> dict[Step, list[float]]:
    """Run the steps in turn; return the processor seconds of every run except the first."""
    runs = [
        {name: processor_seconds(step) for name, step in steps.items()} for _ in range(1 + rounds)
    ]
    return {name: [run[name] for run in runs[1:]] for name in steps}


def median_ratio(times: list[float], others: list[float]) -> float:
    """Return the median over the rounds of the ratio of two times in the same round."""
    return statistics.median(a / b for a, b in zip(times, others))


def keep_freed_memory() -> None:
    """Make the GNU C library keep freed memory, as torch does on a GPU.

    Otherwise, the larger steps, ours and the baselines', would mostly measure how fast the system
    provides new pages, which is slow in a virtual machine. Other C libraries are not changed.
    """
    with suppress(OSError, AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(-4, 0)  # M_MMAP_MAX: allocate everything on the heap
        mallopt(-1, -1)  # M_TRIM_THRESHOLD: never shrink the heap


def return_freed_memory() -> None:
    """Return freed memory to the system, if the C library can do so."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def peak_memory(step: Callable[[], None], device: torch.device) -> Optional[int]:
    """Return a step's peak memory in bytes beyond what was allocated before; None if unknown."""
    return_freed_memory()  # otherwise memory that an earlier step freed would not count
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        step()
        return torch.cuda.max_memory_allocated(device) - before
    try:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    except OSError:
        return None  # not Linux
    before = status("VmRSS")
    step()
    return status("VmHWM") - before


def status(name: str) -> int:
    """Return a size in /proc/self/status, in bytes."""
    status = Path("/proc/self/status").read_text()
    match = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    assert match is not None
    return int(match.group(1)) * 1024
