"""Project the time of encoders on a GPU from their launches; print one table.

The device is the tests' simulated one. Sentences have up to 25 tokens and are read in both
directions. The networks of `torch.nn`, which cuDNN runs in a few launches, are left out. The
results are written to benchmarks/results/.

The projection is the sum, over launches, of the longest of three times with an H100's figures: the
launch itself, the bytes of all operands and results in memory, and the products in float32. It
ignores caches, and everything that keeps a kernel from these rates.

    python -m benchmarks.launches     # a minute
"""

from importlib import import_module
from math import prod
from typing import Any, Callable, NamedTuple, Optional

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten

from allennlp_sentmatch import nn
from allennlp_sentmatch.nn.ops.rcrn.recurrence import controlled_recurrence
from benchmarks.report import RESULTS, machine, write

simulated: Any = import_module("tests.simulated_device")
SIZE = 300
BATCH_SIZE = 32
NUM_TOKENS = 25

SECONDS_OF_A_LAUNCH = 5e-6
BYTES_PER_SECOND = 3.35e12
OPERATIONS_PER_SECOND = 67e12  # in float32, without TF32
#: The operations that multiply matrices, and the position of their left factor.
PRODUCTS = {
    "mm": 0,
    "bmm": 0,
    "mv": 0,
    "addmm": 1,
    "addmm_": 1,
    "baddbmm": 1,
    "baddbmm_": 1,
}


class Launch(NamedTuple):
    """The work of an operation: bytes read and written, and additions and multiplications."""

    bytes: int
    operations: int

    def seconds(self) -> float:
        """Project its time."""
        products = self.operations / OPERATIONS_PER_SECOND
        return max(SECONDS_OF_A_LAUNCH, self.bytes / BYTES_PER_SECOND, products)


class MeasuringDevice(simulated.SimulatedDevice):  # type: ignore[misc]
    """Records the work of each launch."""

    def __init__(self) -> None:
        super().__init__()
        self.work: list[Launch] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation."""
        before = self.launches.total()
        output = super().__torch_dispatch__(func, types, args, kwargs)
        if self.launches.total() > before:
            leaves, _ = tree_flatten((args, kwargs, output))
            tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
            left = PRODUCTS.get(func._schema.name.partition("::")[2])
            operations = 0 if left is None else 2 * output.numel() * args[left].size(-1)
            self.work.append(Launch(sum(map(_bytes, tensors)), operations))
        return output


def _bytes(x: Tensor) -> int:
    """Return the bytes of a tensor's memory; an expanded tensor repeats some of its values."""
    return prod(n for n, stride in zip(x.size(), x.stride()) if stride) * x.element_size()


class ControlledRecurrence(torch.nn.Module):
    """RCRN without its three networks."""

    def forward(self, inputs: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        """Take the inputs as h1 and h3; the mask does not matter."""
        return controlled_recurrence(inputs.sigmoid(), inputs)


ENCODERS: dict[str, Callable[[], torch.nn.Module]] = {
    "cas_lstm, 2 layers": lambda: nn.CellAwareLSTM(SIZE, SIZE, bidirectional=True),
    "lstmn": lambda: nn.LSTMN(SIZE, SIZE, bidirectional=True),
    "subilstm": lambda: nn.SuffixBiLSTM(SIZE, SIZE),
    "gumbel_tree_lstm, affine leaves": lambda: nn.GumbelTreeLSTM(SIZE, SIZE, leaf="affine"),
    "rcrn, without its networks": ControlledRecurrence,
}

COLUMNS = {
    "encoder": "encoder",
    "waits, forward": "forward_waits",
    "waits, backward": "backward_waits",
    "launches, forward": "forward_launches",
    "launches, training step": "launches",
    "gigabytes, training step": "gigabytes",
    "GFLOP, training step": "gigaflops",
    "training step on an H100, ms (projected)": "milliseconds",
    "share of launching": "share_of_launching",
}


def measure(build: Callable[[], torch.nn.Module]) -> dict[str, Any]:
    """Count a training step over a batch with padding."""
    with MeasuringDevice() as device:
        torch.manual_seed(0)
        encoder = build().to(simulated.NAME)
        inputs = torch.randn(BATCH_SIZE, NUM_TOKENS, SIZE).to(simulated.NAME).requires_grad_()
        lengths = NUM_TOKENS - torch.arange(BATCH_SIZE) // 2
        mask = (torch.arange(NUM_TOKENS) < lengths.unsqueeze(1)).to(simulated.NAME)
        for counted in (device.launches, device.synchronizations, device.work):
            counted.clear()
        outputs = encoder(inputs, mask)
        forward = device.launches.total(), device.synchronizations.total()
        outputs.sum().backward()
    seconds = sum(launch.seconds() for launch in device.work)
    launching = SECONDS_OF_A_LAUNCH * len(device.work)
    return {
        "forward_waits": forward[1],
        "backward_waits": device.synchronizations.total() - forward[1],
        "forward_launches": forward[0],
        "launches": len(device.work),
        "gigabytes": sum(launch.bytes for launch in device.work) / 1e9,
        "gigaflops": sum(launch.operations for launch in device.work) / 1e9,
        "milliseconds": 1e3 * seconds,
        "share_of_launching": f"{launching / seconds:.0%}",
    }


def main() -> None:
    records = [{"encoder": name, **measure(build)} for name, build in ENCODERS.items()]
    write(RESULTS / "launches", machine(torch.device("cpu")), records, COLUMNS)


if __name__ == "__main__":
    main()
