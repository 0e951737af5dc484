"""torch's own recurrent networks over padded batches, by torch or by this package's recurrences."""

from collections.abc import Sequence
from typing import Any, Optional, Union

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from allennlp_sentmatch.nn.ops.backends import resolve_network
from allennlp_sentmatch.nn.ops.cas_lstm.naive import LayerStack, LayerWeights
from allennlp_sentmatch.nn.ops.cas_lstm.recurrence import final_states, lstm_recurrence
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.common.execution import has_values
from allennlp_sentmatch.nn.ops.common.packing import Packing, reversed_indices
from allennlp_sentmatch.nn.ops.gru.naive import GRUWeights
from allennlp_sentmatch.nn.ops.gru.recurrence import gru_recurrence
from allennlp_sentmatch.nn.padding import clear_padding, mask_of, zero_outputs

Network = Union[torch.nn.LSTM, torch.nn.GRU]
States = tuple[Tensor, Tensor]
"""The states h and c."""


def precision_of(network: Network) -> torch.dtype:
    """Return the type of the parameters, which in a replica are plain tensors."""
    weights = getattr(network, "all_weights", None)
    if not weights:  # a quantized network takes float32
        return torch.float32
    dtype: torch.dtype = weights[0][0].dtype
    return dtype


def run_networks(
    networks: Sequence[Network],
    inputs: Tensor,
    mask: Optional[Tensor],
) -> list[Tensor]:
    """Run networks that read the same sentences, inputs (B, T, D) with a mask (B, T).

    The networks have `batch_first` and no projections. Return the outputs of each,
    (B, T, num_directions * hidden_size), zero at padding.
    """
    return [outputs for outputs, _ in _run(networks, inputs, mask)]


def lstm_final_states(
    lstm: torch.nn.LSTM,
    inputs: Tensor,
    mask: Optional[Tensor],
    initial: Optional[States] = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Run an LSTM for a decoder that starts from its last states.

    An LSTM of a single direction may start from `initial`, h and c of all layers before the first
    step, (B, num_layers, hidden_size) each; otherwise it starts from zeros. Return the outputs, as
    `run_networks` does, and h and c of all layers after a direction's last step,
    (B, num_layers, num_directions * hidden_size) each. An empty sentence keeps the initial ones.
    """
    (result,) = _run([lstm], inputs, mask, initial, needs_last=True)
    outputs, (hidden, cell) = result
    return outputs, hidden, cell


class StatesLSTM(torch.nn.LSTM):
    """A one-layer LSTM that returns h and c at every step; torch returns only h."""

    def forward(  # type: ignore[override]
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
    ) -> States:
        """Return (B, T, num_directions * hidden_size) each, zero at padding."""
        (states,) = lstm_recurrence(inputs, mask, _layer_stack(_layers(self)[0]))
        return states.hidden, states.cell


def _run(
    networks: Sequence[Network],
    inputs: Tensor,
    mask: Optional[Tensor],
    initial: Optional[States] = None,
    needs_last: bool = False,
) -> list[tuple[Tensor, Sequence[Tensor]]]:
    """Return the outputs of each network and, if needed, all layers' h and c at the end."""
    if inputs.size(1) == 0 and not needs_last:
        return [(_no_outputs(network, inputs), ()) for network in networks]
    dtype = precision_of(networks[0])
    inputs = inputs.to(dtype)
    if mask is not None:
        inputs = clear_padding(inputs, mask)
    packing: Optional[Packing] = None
    results: list[tuple[Tensor, Sequence[Tensor]]] = []
    # Not every torch and CPU can run torch's own recurrent networks under autocast.
    with without_autocast(torch.device("cpu")):
        for network in networks:
            last: Sequence[Tensor] = ()
            form = resolve_network(network, inputs, mask, needs_last)
            if form == "own":
                outputs, last = _run_own(network, inputs, mask, initial, needs_last)
            elif form == "padded":
                outputs = _run_padded(network, inputs, mask)
            else:
                packing = packing or Packing.of(inputs, mask, bidirectional=False)
                outputs, last = _run_packed(network, inputs, packing, initial, needs_last)
            outputs = outputs.to(dtype)
            if mask is not None:
                outputs = clear_padding(outputs, mask)
            results.append((outputs, last))
    return results


def _no_outputs(network: Network, inputs: Tensor) -> Tensor:
    """Return a network's outputs for inputs (B, T, D) without tokens, which are zeros."""
    B, T, _ = inputs.shape
    output_size = network.hidden_size * (1 + network.bidirectional)
    return zero_outputs(network, inputs, (B, T, output_size))


def _run_own(
    network: Network,
    inputs: Tensor,
    mask: Optional[Tensor],
    initial: Optional[States],
    needs_last: bool,
) -> tuple[Tensor, Sequence[Tensor]]:
    """Implement `_run` by this package's recurrences; a GRU has no last states."""
    outputs = inputs
    last = []
    for layer, directions in enumerate(_layers_after_hooks(network, inputs)):
        if layer > 0:
            outputs = F.dropout(outputs, network.dropout, network.training)
        if isinstance(network, torch.nn.GRU):
            outputs = gru_recurrence(outputs, mask, [GRUWeights(*w) for w in directions])
            continue
        before = None
        if initial is not None:
            before = (initial[0][:, [layer]], initial[1][:, [layer]])  # (B, 1, H) each
        states = lstm_recurrence(outputs, mask, _layer_stack(directions), before)
        outputs = states[0].hidden
        if needs_last:
            full_mask = mask_of(inputs, mask)
            last.append(final_states(states, full_mask, len(directions), before))
    return outputs, [torch.cat(states, 1) for states in zip(*last)]  # (B, L, E) each


def _run_padded(
    network: Network,
    inputs: Tensor,
    mask: Optional[Tensor],
) -> Tensor:
    """Return the outputs by torch, which also reads the padding and so has no last states."""
    if mask is None or (has_values(mask) and mask.all()):
        outputs: Tensor = network(inputs)[0]
        return outputs
    reversal = reversed_indices(mask)
    outputs = inputs
    for layer, directions in enumerate(_layers_after_hooks(network, inputs)):
        if layer > 0:
            outputs = F.dropout(outputs, network.dropout, network.training)
        states = _run_direction(network, outputs, directions[0])
        if network.bidirectional:
            from_right = _run_direction(network, outputs[reversal], directions[1])
            states = torch.cat([states, from_right[reversal]], -1)
        outputs = states
    return outputs


def _layers_after_hooks(network: Network, inputs: Tensor) -> list[list[list[Tensor]]]:
    """Run the hooks that compute a network's weights, such as pruning's; return its `_layers`."""
    with_kwargs = getattr(network, "_forward_pre_hooks_with_kwargs", ())  # torch 1 has none
    for number, hook in network._forward_pre_hooks.items():
        if number in with_kwargs:
            hook(network, (inputs,), {})
        else:
            hook(network, (inputs,))
    return _layers(network)


def _layers(network: Network) -> list[list[list[Tensor]]]:
    """Return W, U, b and c of each direction of each layer."""
    directions: list[list[Tensor]] = [list(weights) for weights in network.all_weights]
    if not network.bias:
        weight_ih, *_ = directions[0]
        zeros = weight_ih.new_zeros(len(weight_ih))
        directions = [[*matrices, zeros, zeros] for matrices in directions]
    S = 1 + network.bidirectional
    return [directions[i : i + S] for i in range(0, len(directions), S)]


def _layer_stack(directions: list[list[Tensor]]) -> LayerStack:
    """Return a layer of one of torch's LSTMs, which has two biases."""
    layer = [LayerWeights(w, u, b + c) for w, u, b, c in directions]
    return LayerStack([layer])


def _run_direction(
    network: Network,
    inputs: Tensor,
    weights: Sequence[Tensor],
) -> Tensor:
    """Return the states (B, T, H) of one layer that reads from left to right, by torch.

    Padding on the right does not affect them. The other direction reads each sentence in reverse,
    with its padding on the right.
    """
    state = inputs.new_zeros(1, inputs.size(0), network.hidden_size)
    options = (True, 1, 0.0, network.training, False, True)
    functions: Any = torch._VF
    outputs: Tensor
    if isinstance(network, torch.nn.LSTM):
        outputs, *_ = functions.lstm(inputs, (state, state), weights, *options)
    else:
        outputs, *_ = functions.gru(inputs, state, weights, *options)
    return outputs


def _run_packed(
    network: Network,
    inputs: Tensor,
    packing: Packing,
    initial: Optional[States],
    needs_last: bool,
) -> tuple[Tensor, Sequence[Tensor]]:
    """Implement `_run` by torch without the padding; a GRU has no last states."""
    S = 1 + network.bidirectional
    L = network.num_layers
    states: Any = None  # (L * S, B, H) each
    if initial is not None:
        states = [x.transpose(0, 1) for x in initial]
    elif needs_last:
        zeros = inputs.new_zeros(L * S, len(inputs), network.hidden_size)
        states = [zeros, zeros]
    if packing.sizes:
        sizes = torch.tensor(packing.sizes, device="cpu")
        sequence = PackedSequence(packing.pack(inputs)[0], sizes)
        before = states and tuple(x[:, packing.order] for x in states)
        packed, new = network(sequence, before)
        outputs = packing.unpack(packed.data.unsqueeze(0))
        if needs_last:
            states = [x.index_copy(1, packing.order, y) for x, y in zip(states, new)]
    else:
        outputs = _no_outputs(network, inputs)
    last = []
    for x in states or ():
        by_direction = x.unflatten(0, (L, S)).permute(2, 0, 1, 3)  # (B, L, S, H)
        last.append(by_direction.flatten(2))
    return outputs, last
