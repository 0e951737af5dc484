"""A stack of LSTM or CAS-LSTM layers over a batch of sentences."""

from collections.abc import Sequence
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autocast import widened, without_autocast
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.lstm import naive
from allennlp_sentmatch.nn.ops.lstm.layer import LayerParameters, lstm_layer
from allennlp_sentmatch.nn.ops.lstm.naive import CellAwareLSTMGates, LayerWeights

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "eager", "cpu", "gpu")

Layers = Sequence[Sequence[LayerWeights]]


def lstm_stack(
    inputs: Tensor, mask: Tensor, layers: Layers, dropout: float = 0.0, training: bool = False
) -> tuple[Tensor, Tensor]:
    """The states of the top layer.

    # Parameters

    inputs : `Tensor`
        Shape (B, T, D). The padding has no effect.
    mask : `Tensor`
        Shape (B, T), bool, right-padded.
    layers : `Sequence[Sequence[LayerWeights]]`
        Each layer's parameters, for each of the S directions (left-to-right first).
    dropout : `float`, optional (default = `0.0`)
        The dropout probability of the hidden states between layers, where `training`.
    training : `bool`, optional (default = `False`)

    # Returns

    `Tuple[Tensor, Tensor]`
        h and c, both (B, T, S * H), zero at padding.
    """
    inputs = widened(inputs, layers[0][0].weight_ih)
    backend = resolve("LSTM", IMPLEMENTATIONS, inputs, *_parameters(layers))
    if backend.name == "naive":
        top = naive.run_stack(inputs, mask, layers, dropout, training)[-1]
        return torch.cat([x.hidden for x in top], -1), torch.cat([x.gates.cell for x in top], -1)
    with without_autocast(inputs.device):
        packing = Packing.of(mask, bidirectional=len(layers[0]) == 2)
        hidden = packing.pack(inputs)  # (S, N, D)
        cell: Optional[Tensor] = None
        for number, directions in enumerate(layers):
            if number > 0:
                hidden = F.dropout(hidden, dropout, training)
            parameters = LayerParameters.of(directions)
            hidden, cell = lstm_layer(backend, packing, hidden, cell, parameters)  # (S, N, H)
        assert cell is not None
        return packing.unpack(hidden), packing.unpack(cell)


def lstm_stack_gates(
    inputs: Tensor, mask: Tensor, layers: Layers, dropout: float = 0.0, training: bool = False
) -> tuple[Tensor, list[tuple[CellAwareLSTMGates, ...]]]:
    """The top layer's h (B, T, S * H) and the gates of all layers, for each of their directions.

    The arguments are those of `lstm_stack`. Only the backend "naive" has the gates.
    """
    inputs = widened(inputs, layers[0][0].weight_ih)
    resolve("the gates of an LSTM", IMPLEMENTATIONS[:1], inputs, *_parameters(layers))
    states = naive.run_stack(inputs, mask, layers, dropout, training)
    gates = [tuple(direction.gates for direction in layer) for layer in states]
    return torch.cat([x.hidden for x in states[-1]], -1), gates


def _parameters(layers: Layers) -> list[Tensor]:
    return [x for layer in layers for weights in layer for x in weights if isinstance(x, Tensor)]
