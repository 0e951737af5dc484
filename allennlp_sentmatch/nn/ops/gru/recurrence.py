"""A layer of a GRU over a batch of sentences; `naive` has the equations."""

from collections.abc import Sequence
from typing import Optional

from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autograd import differentiable
from allennlp_sentmatch.nn.ops.common.packing import Packing, mask_of
from allennlp_sentmatch.nn.ops.gru import cpu, naive
from allennlp_sentmatch.nn.ops.gru.naive import GRUWeights

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "cpu")


def gru_recurrence(
    inputs: Tensor,
    mask: Optional[Tensor],
    directions: Sequence[GRUWeights],
) -> Tensor:
    """Run a layer over inputs (B, T, D) with the mask (B, T), in one direction or two.

    Return its states (B, T, S * H), zero at padding.
    """
    parameters = [parameter for weights in directions for parameter in weights]
    backend = resolve("GRU", IMPLEMENTATIONS, inputs, *parameters)
    if backend.name != "cpu":
        return naive.gru_recurrence(inputs, mask_of(inputs, mask), directions)
    packing = Packing.of(inputs, mask, bidirectional=len(directions) == 2)
    arguments = (packing.pack(inputs), list(directions))
    states: Tensor = differentiable(cpu.forward, cpu.backward, (backend, packing), arguments)
    return packing.unpack(states)
