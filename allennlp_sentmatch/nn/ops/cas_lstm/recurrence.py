"""A stack of LSTM or CAS-LSTM layers over a batch of sentences."""

from collections.abc import Sequence
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.cas_lstm import naive
from allennlp_sentmatch.nn.ops.cas_lstm.layer import lstm_layer
from allennlp_sentmatch.nn.ops.cas_lstm.naive import CellAwareLSTMGates
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerInputs, LayerParameters, LayerStack
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter
from allennlp_sentmatch.nn.ops.common.packing import Packing, last_states, mask_of

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "eager", "cpu")

Gates = tuple[CellAwareLSTMGates, ...]


def lstm_recurrence(
    inputs: Tensor, mask: Optional[Tensor], stack: LayerStack
) -> tuple[Tensor, Tensor]:
    """Return h and c of the top layer, (B, T, S * H) each and zero at padding."""
    return _run(inputs, mask, stack, first=len(stack.layers) - 1)[0][:2]


def lstm_last_states(
    inputs: Tensor,
    mask: Optional[Tensor],
    stack: LayerStack,
    initial: Optional[tuple[Tensor, Tensor]] = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the top layer's h (B, T, S * H), and h and c of all L layers after the last token.

    A single direction may start from `initial`: h and c before the first token, (B, L, H) each,
    zero by default. The last states are (B, L, S * H) each; the second direction ends at the first
    token. An empty sentence keeps the initial states.
    """
    states = _run(inputs, mask, stack, initial=initial)
    mask = mask_of(inputs, mask)
    S = len(stack.layers[0])
    last_hidden = torch.stack([last_states(h, mask, S) for h, _, _ in states], 1)  # (B, L, S * H)
    last_cell = torch.stack([last_states(c, mask, S) for _, c, _ in states], 1)
    if initial is not None:
        has_tokens = mask.any(1).view(-1, 1, 1)
        last_hidden = torch.where(has_tokens, last_hidden, initial[0])
        last_cell = torch.where(has_tokens, last_cell, initial[1])
    return states[-1][0], last_hidden, last_cell


def lstm_gates(
    inputs: Tensor, mask: Optional[Tensor], stack: LayerStack
) -> tuple[Tensor, list[Gates]]:
    """Return the top layer's h (B, T, S * H) and the gates of each layer in each direction.

    Only the backend "naive" has the gates.
    """
    states = _run(inputs, mask, stack, needs_gates=True)
    return states[-1][0], [gates for _, _, gates in states]


def _run(
    inputs: Tensor,
    mask: Optional[Tensor],
    stack: LayerStack,
    first: int = 0,
    initial: Optional[tuple[Tensor, Tensor]] = None,
    needs_gates: bool = False,
) -> list[tuple[Tensor, Tensor, Gates]]:
    """Return h and c of the layers from number `first` on, (B, T, S * H) each, and their gates."""
    layers, dropout, training = stack
    inputs = cast_to_parameter(inputs, layers[0][0].weight_ih)
    if initial is not None and len(layers[0]) > 1:
        raise ValueError("initial states are for a single direction")
    parameters = [
        x for layer in layers for weights in layer for x in weights if isinstance(x, Tensor)
    ]
    what, has = "LSTM", IMPLEMENTATIONS
    if needs_gates:
        what, has = "the gates of an LSTM", ("naive", "scan")
    backend = resolve(what, has, inputs, *parameters, *(initial or ()))
    if backend.name in ("naive", "scan"):
        mask = mask_of(inputs, mask)
        return [
            (
                torch.cat([x.hidden for x in layer], -1),
                torch.cat([x.gates.cell for x in layer], -1),
                tuple(x.gates for x in layer),
            )
            for layer in naive.run_stack(inputs, mask, stack, initial)[first:]
        ]
    if initial is not None:  # which take the place of a token before the first one
        inputs = F.pad(inputs, (0, 0, 1, 0))
        mask = None if mask is None else F.pad(mask, (1, 0), value=True)
    packing = Packing.of(inputs, mask, bidirectional=len(layers[0]) == 2)
    hidden = packing.pack(inputs)  # (S, N, D)
    cell: Optional[Tensor] = None
    states: list[tuple[Tensor, Tensor, Gates]] = []
    for number, directions in enumerate(layers):
        if number > 0:
            hidden = F.dropout(hidden, dropout, training)
        before: Sequence[Optional[Tensor]] = (None, None)
        if initial is not None:
            before = [x[packing.order, number].unsqueeze(0) for x in initial]  # (1, B, H) each
        x = LayerInputs(hidden, cell, *before)
        hidden, cell = lstm_layer(backend, packing, x, LayerParameters.of(directions))
        if number >= first:  # (S, N, H) each
            states.append((packing.unpack(hidden), packing.unpack(cell), ()))
    if initial is not None:
        states = [(h[:, 1:], c[:, 1:], gates) for h, c, gates in states]
    return states
