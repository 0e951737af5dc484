"""Count what encoders launch on a GPU and how often they wait for it; print one table.

The device is the tests' simulated one. Sentences have 25 tokens and are read in both directions;
the number of launches does not depend on the sizes. A launch takes a GPU about 5 microseconds,
however small its work. The networks of `torch.nn`, which cuDNN runs in a few launches, are left
out. The results are written to benchmarks/results/.

    PYTHONPATH=. python benchmarks/launches.py     # ten seconds
"""

from importlib import import_module
from typing import Any, Callable

import torch
from report import RESULTS, machine, write
from torch import Tensor

from allennlp_sentmatch import nn
from allennlp_sentmatch.nn.ops.rcrn.recurrence import controlled_recurrence

simulated: Any = import_module("tests.simulated_device")
SIZE, BATCH_SIZE, NUM_TOKENS = 4, 4, 25
MILLISECONDS_OF_A_LAUNCH = 0.005


class ControlledRecurrence(torch.nn.Module):
    """RCRN without its three networks."""

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Take the inputs as h1 and h3."""
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
    "launching takes at least, ms (projected)": "milliseconds",
}


def measure(build: Callable[[], torch.nn.Module]) -> dict[str, float]:
    """Count a training step over a batch with padding."""
    with simulated.SimulatedDevice() as device:
        torch.manual_seed(0)
        encoder = build().to(simulated.NAME)
        inputs = torch.randn(BATCH_SIZE, NUM_TOKENS, SIZE).to(simulated.NAME).requires_grad_()
        lengths = NUM_TOKENS - 2 * torch.arange(BATCH_SIZE)
        mask = (torch.arange(NUM_TOKENS) < lengths.unsqueeze(1)).to(simulated.NAME)
        device.launches.clear()
        device.synchronizations.clear()
        outputs = encoder(inputs, mask)
        forward = device.launches.total(), device.synchronizations.total()
        outputs.sum().backward()
        launches = device.launches.total()
    return {
        "forward_waits": forward[1],
        "backward_waits": device.synchronizations.total() - forward[1],
        "forward_launches": forward[0],
        "launches": launches,
        "milliseconds": MILLISECONDS_OF_A_LAUNCH * launches,
    }


def main() -> None:
    records = [{"encoder": name, **measure(build)} for name, build in ENCODERS.items()]
    write(RESULTS / "launches", machine(torch.device("cpu")), records, COLUMNS)


if __name__ == "__main__":
    main()
