"""A stack of LSTM or CAS-LSTM layers over a batch of sentences."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend, Name, resolve
from allennlp_sentmatch.nn.ops.cas_lstm import naive
from allennlp_sentmatch.nn.ops.cas_lstm.layer import lstm_layer
from allennlp_sentmatch.nn.ops.cas_lstm.naive import LayerOutputs, LayerStack
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerInputs
from allennlp_sentmatch.nn.ops.common.packing import Packing, check_states, last_states, mask_of

NAIVE: tuple[Name, ...] = ("naive", "scan")
IMPLEMENTATIONS: tuple[Name, ...] = (*NAIVE, "eager", "cpu")


def lstm_recurrence(
    inputs: Tensor,
    mask: Optional[Tensor],
    stack: LayerStack,
    initial: Optional[tuple[Tensor, Tensor]] = None,
    first: int = 0,
    needs_gates: bool = False,
) -> list[LayerOutputs]:
    """Run a stack of L layers over inputs (B, T, D); return the layers from index `first` on.

    A single direction may start from `initial`: h and c before the first token, (B, L, H) each,
    zero by default. Only the backend "naive" has the gates.
    """
    if initial is not None:
        if len(stack.layers[0]) > 1:
            raise ValueError("initial states need a unidirectional stack")
        sizes = {
            "batch_size": inputs.size(0),
            "num_layers": len(stack.layers),
            "hidden_size": stack.layers[0][0].weight_hh.size(1),
        }
        check_states(initial, sizes)
    parameters = [x for layer in stack.layers for weights in layer for x in weights]
    values = [inputs, *parameters, *(initial or ())]
    tensors = [value for value in values if isinstance(value, Tensor)]
    what = "the gates of an LSTM" if needs_gates else "LSTM"
    implementations = NAIVE if needs_gates else IMPLEMENTATIONS
    backend = resolve(what, implementations, *tensors)
    if backend.name in NAIVE:
        outputs = naive.run_stack(inputs, mask_of(inputs, mask), stack, initial)
        return outputs[first:]
    return _run_packed(backend, inputs, mask, stack, initial, first)


def _run_packed(
    backend: Backend,
    inputs: Tensor,
    mask: Optional[Tensor],
    stack: LayerStack,
    initial: Optional[tuple[Tensor, Tensor]],
    first: int,
) -> list[LayerOutputs]:
    """Run the stack by a backend without padding; see `lstm_recurrence`."""
    if initial is not None:  # they replace a step before the first token
        inputs = F.pad(inputs, (0, 0, 1, 0))
        mask = None if mask is None else F.pad(mask, (1, 0), value=True)
    packing = Packing.of(inputs, mask, bidirectional=len(stack.layers[0]) == 2)
    packed = packing.pack(inputs)
    layer_states = _packed_layers(backend, packing, packed, stack, initial)
    skipped = 0 if initial is None else 1
    outputs = []
    for hidden, cell in islice(layer_states, first, None):
        hidden = packing.unpack(hidden)[:, skipped:]
        cell = packing.unpack(cell)[:, skipped:]
        outputs.append(LayerOutputs(hidden, cell))
    return outputs


def _packed_layers(
    backend: Backend,
    packing: Packing,
    hidden: Tensor,
    stack: LayerStack,
    initial: Optional[tuple[Tensor, Tensor]],
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield h and c of each layer, (S, N, H) each, over packed inputs `hidden` (S, N, D).

    With `initial`, the packing's first step is a place for these states: its inputs are not used,
    and its rows of h and c are the states before the first token.
    """
    cell: Optional[Tensor] = None
    for number, directions in enumerate(stack.layers):
        if number > 0:
            hidden = F.dropout(hidden, stack.dropout, stack.training)
        before = None
        if initial is not None:
            of_layer = [x[packing.order, number] for x in initial]  # (B, H) each
            before = torch.stack(of_layer).unsqueeze(1)  # (2, 1, B, H)
        x = LayerInputs(hidden, cell, before)
        hidden, cell = lstm_layer(backend, packing, x, directions)
        yield hidden, cell


def final_states(
    layers: Sequence[LayerOutputs],
    mask: Tensor,
    num_directions: int,
    initial: Optional[tuple[Tensor, Tensor]] = None,
) -> tuple[Tensor, Tensor]:
    """Return h and c of L layers after the last token of the mask (B, T), (B, L, S * H) each.

    A second direction ends at the first token. An empty sentence keeps the initial states.
    """
    last_hidden = [last_states(x.hidden, mask, num_directions) for x in layers]
    last_cell = [last_states(x.cell, mask, num_directions) for x in layers]
    hidden = torch.stack(last_hidden, 1)
    cell = torch.stack(last_cell, 1)
    if initial is not None:
        has_tokens = mask.any(1).view(-1, 1, 1)
        hidden = torch.where(has_tokens, hidden, initial[0])
        cell = torch.where(has_tokens, cell, initial[1])
    return hidden, cell
