"""The LSTMN's recurrence over a batch of sentences; `naive` has the equations."""

from collections.abc import Sequence
from typing import Optional

from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.common.autograd import differentiable
from allennlp_sentmatch.nn.ops.common.packing import Packing, mask_of
from allennlp_sentmatch.nn.ops.common.products import stack
from allennlp_sentmatch.nn.ops.lstmn import cpu, naive
from allennlp_sentmatch.nn.ops.lstmn.naive import LSTMNWeights

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "cpu")


def lstmn_recurrence(
    inputs: Tensor,
    mask: Optional[Tensor],
    directions: Sequence[LSTMNWeights],
    initial_state: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Compute the tapes of inputs (B, T, D).

    `initial_state` (2, S, B, H) is h~ and c~ at the first step, zero by default. Return the tapes h
    and c, (B, T, S * H) each and zero at padding, and the attention of each direction, (B, T, T),
    with rows and columns in the order of the direction.
    """
    parameters = [parameter for weights in directions for parameter in weights]
    tensors = [inputs, *parameters]
    if initial_state is not None:
        tensors.append(initial_state)
    backend = resolve("LSTMN", IMPLEMENTATIONS, *tensors)
    packing = None
    if backend.name == "cpu":
        packing = Packing.of(inputs, mask, bidirectional=len(directions) == 2)
    if packing is None or not packing.sizes:  # the batch has no token
        with without_autocast(inputs.device):
            return naive.lstmn_recurrence(
                inputs, mask_of(inputs, mask), directions, initial_state, backend.name == "scan"
            )
    order = packing.order
    B, T = packing.shape
    initial = None if initial_state is None else initial_state[:, :, order]
    weights = LSTMNWeights._make(map(stack, zip(*directions)))
    arguments = (packing.pack(inputs), initial, weights)
    hidden, cell, attention = differentiable(
        cpu.forward, cpu.backward, (backend, packing), arguments
    )
    longest = len(packing.sizes)
    by_sentence = attention.new_zeros(len(directions), B, T, T)
    by_sentence[:, order, :longest, :longest] = attention
    return packing.unpack(hidden), packing.unpack(cell), list(by_sentence)
