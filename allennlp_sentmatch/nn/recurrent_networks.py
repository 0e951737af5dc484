"""torch's own recurrent networks over padded batches, by torch or by this package's recurrences."""

from collections.abc import Sequence
from typing import Any, Optional, Union

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from allennlp_sentmatch.nn.ops.backends import is_compiling_or_tracing, is_on_gpu, resolve_network
from allennlp_sentmatch.nn.ops.cas_lstm.recurrence import lstm_last_states, lstm_recurrence
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerWeights
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.common.reversal import reversed_indices
from allennlp_sentmatch.nn.ops.gru.naive import GRUWeights
from allennlp_sentmatch.nn.ops.gru.recurrence import gru_recurrence
from allennlp_sentmatch.nn.padding import zero_outputs

Network = Union[torch.nn.LSTM, torch.nn.GRU]
States = tuple[Tensor, Tensor]
"""h and c."""


def run_networks(
    networks: Sequence[Network], inputs: Tensor, mask: Optional[Tensor]
) -> list[Tensor]:
    """Run networks that read the same sentences.

    # Parameters

    networks : `Sequence[Union[torch.nn.LSTM, torch.nn.GRU]]`
        Each with `batch_first`.
    inputs : `Tensor`
        Shape (B, T, D). Padding may hold anything.
    mask : `Optional[Tensor]`
        Shape (B, T), bool, right-padded. `None`: nothing is padding.

    # Returns

    `list[Tensor]`
        The outputs of each network, (B, T, E), zero at padding.
    """
    if inputs.size(1) == 0:
        B = inputs.size(0)
        return [
            zero_outputs(network, inputs, (B, 0, network.hidden_size * (1 + network.bidirectional)))
            for network in networks
        ]
    inputs = cast_to_parameter(inputs, networks[0].all_weights[0][0])
    if mask is not None:  # Padding must not matter, not even NaN in a product with zero.
        inputs = inputs.masked_fill(~mask.unsqueeze(-1), 0.0)
    packing: Optional[Packing] = None
    outputs = []
    # Not every torch and CPU can run torch's own recurrent networks under autocast.
    with without_autocast(torch.device("cpu")):
        for network in networks:
            is_lstm, parameters = isinstance(network, torch.nn.LSTM), list(network.parameters())
            form = resolve_network(is_lstm, network.hidden_size, inputs, mask, parameters)
            if form == "packed":
                packing = packing or Packing.of(inputs, mask, bidirectional=False)
                states, _ = _run_packed(network, inputs, packing)
            else:
                states = _run_padded(network, inputs, mask, form)
            outputs.append(states.to(network.all_weights[0][0].dtype))
    if mask is None:
        return outputs
    return [states.masked_fill(~mask.unsqueeze(-1), 0.0) for states in outputs]


def lstm_states(lstm: torch.nn.LSTM, inputs: Tensor, mask: Optional[Tensor]) -> States:
    """Run a one-layer LSTM and return both states at every step, of which torch returns h alone.

    # Parameters

    lstm : `torch.nn.LSTM`
        Of one layer, without projections, in one direction or two.
    inputs : `Tensor`
        Shape (B, T, D); the padding has no effect.
    mask : `Optional[Tensor]`
        Shape (B, T), bool, right-padded. `None`: nothing is padding.

    # Returns

    `tuple[Tensor, Tensor]`
        h and c, each (B, T, num_directions * hidden_size), zero at padding.
    """
    return lstm_recurrence(inputs, mask, [_layer_weights(_layers(lstm)[0])])


def lstm_final_states(
    lstm: torch.nn.LSTM,
    inputs: Tensor,
    mask: Optional[Tensor],
    initial: Optional[States] = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Run an LSTM for a decoder that starts from its last states.

    # Parameters

    lstm : `torch.nn.LSTM`
        With `batch_first`, with or without biases, without projections.
    inputs : `Tensor`
        Shape (B, T, D); the padding has no effect.
    mask : `Optional[Tensor]`
        Shape (B, T), bool, right-padded. `None`: nothing is padding.
    initial : `tuple[Tensor, Tensor]`, optional (default = zeros)
        h and c of all layers before the first step, each (B, num_layers, hidden_size). For a
        single direction.

    # Returns

    `tuple[Tensor, Tensor, Tensor]`
        The outputs, (B, T, num_directions * hidden_size), zero at padding; and h and c of all
        layers after a direction's last step, each (B, num_layers, num_directions * hidden_size),
        the initial ones for an empty sentence.
    """
    if is_on_gpu(inputs) and inputs.size(1) > 0:
        return _packed_final_states(lstm, inputs, mask, initial)
    hidden: list[Tensor] = []  # (B, 1, E) each, as is `cell`
    cell: list[Tensor] = []

    def run_layer(outputs: Tensor, directions: list[list[Tensor]]) -> Tensor:
        layer = len(hidden)
        before = initial and (initial[0][:, [layer]], initial[1][:, [layer]])  # (B, 1, H) each
        outputs, h, c = lstm_last_states(
            outputs, mask, [_layer_weights(directions)], initial=before
        )
        hidden.append(h)
        cell.append(c)
        return outputs

    outputs = _run_layers(lstm, inputs, run_layer)
    return outputs, torch.cat(hidden, 1), torch.cat(cell, 1)


def _run_padded(network: Network, inputs: Tensor, mask: Optional[Tensor], form: str) -> Tensor:
    """The outputs (B, T, E) by torch ("padded") or by this package's recurrences ("own")."""
    is_recorded = is_compiling_or_tracing()
    if form == "padded" and (mask is None or (not is_recorded and mask.all())):
        outputs: Tensor = network(inputs)[0]
        return outputs
    reversal = None if mask is None else reversed_indices(mask)

    def run_padded(outputs: Tensor, directions: list[list[Tensor]]) -> Tensor:
        states = [_run_direction(network, outputs, directions[0])]
        if network.bidirectional:
            assert reversal is not None
            states.append(_run_direction(network, outputs[reversal], directions[1])[reversal])
        return torch.cat(states, -1)

    def run_own(outputs: Tensor, directions: list[list[Tensor]]) -> Tensor:
        if isinstance(network, torch.nn.LSTM):
            return lstm_recurrence(outputs, mask, [_layer_weights(directions)])[0]
        return gru_recurrence(outputs, mask, [GRUWeights(*weights) for weights in directions])

    return _run_layers(network, inputs, run_padded if form == "padded" else run_own)


def _run_layers(network: Network, inputs: Tensor, run_layer: Any) -> Tensor:
    """Run `run_layer(outputs, directions)` for each layer, with dropout between two of them."""
    outputs = inputs
    for layer, directions in enumerate(_layers(network)):
        if layer > 0:
            outputs = F.dropout(outputs, network.dropout, network.training)
        outputs = run_layer(outputs, directions)
    return outputs


def _layers(network: Network) -> list[list[list[Tensor]]]:
    """W, U, b and c of each direction of each layer."""
    directions: list[list[Tensor]] = [list(weights) for weights in network.all_weights]
    if not network.bias:
        zeros = directions[0][0].new_zeros(directions[0][0].size(0))
        directions = [[*matrices, zeros, zeros] for matrices in directions]
    S = 1 + network.bidirectional
    return [directions[i : i + S] for i in range(0, len(directions), S)]


def _layer_weights(directions: list[list[Tensor]]) -> list[LayerWeights]:
    return [LayerWeights(w_ih, w_hh, b_ih + b_hh) for w_ih, w_hh, b_ih, b_hh in directions]


def _run_direction(network: Network, inputs: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """The states (B, T, H) of one layer that reads from left to right, by torch.

    Padding on the right does not affect them, and the other direction reads each sentence reversed,
    its padding still on the right.
    """
    state = inputs.new_zeros(1, inputs.size(0), network.hidden_size)
    options = (True, 1, 0.0, network.training, False, True)
    functions: Any = torch._VF
    outputs: Tensor
    if isinstance(network, torch.nn.LSTM):
        outputs = functions.lstm(inputs, (state, state), weights, *options)[0]
    else:
        outputs = functions.gru(inputs, state, weights, *options)[0]
    return outputs


def _run_packed(
    network: Network, inputs: Tensor, packing: Packing, initial: Optional[States] = None
) -> tuple[Tensor, Any]:
    """The outputs (B, T, E), zero at padding, and the last states of torch's module.

    The latter, and `initial`, have a row for each of `packing.order`.
    """
    if not packing.sizes:
        E = network.hidden_size * (1 + network.bidirectional)
        return zero_outputs(network, inputs, (*inputs.shape[:2], E)), initial
    sizes = torch.tensor(packing.sizes, device="cpu")
    outputs, last = network(PackedSequence(packing.pack(inputs)[0], sizes), initial)
    return packing.unpack(outputs.data.unsqueeze(0)), last


def _packed_final_states(
    lstm: torch.nn.LSTM, inputs: Tensor, mask: Optional[Tensor], initial: Optional[States] = None
) -> tuple[Tensor, Tensor, Tensor]:
    """`lstm_final_states` by cuDNN, which takes packed batches as they are."""
    B, H, S = len(inputs), lstm.hidden_size, 1 + lstm.bidirectional
    packing = Packing.of(inputs, mask, bidirectional=False)
    if initial is None:
        start = (inputs.new_zeros(lstm.num_layers * S, B, H),) * 2
    else:
        start = (initial[0].transpose(0, 1), initial[1].transpose(0, 1))  # (L, B, H) each
    before = (start[0][:, packing.order], start[1][:, packing.order])
    outputs, last = _run_packed(lstm, inputs, packing, before)
    hidden, cell = (
        by_layer.index_copy(1, packing.order, new)
        .unflatten(0, (lstm.num_layers, S))  # (L, S, B, H)
        .permute(2, 0, 1, 3)
        .flatten(2)  # (B, L, S * H)
        for by_layer, new in zip(start, last)
    )
    return outputs, hidden, cell
