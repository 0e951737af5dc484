"""The states of a `torch.nn.LSTM` over sentences of different lengths."""

from typing import Optional

import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from allennlp_sentmatch.nn.ops.lstm.recurrence import lstm_last_states, lstm_recurrence
from allennlp_sentmatch.nn.ops.lstm.weights import LayerWeights


def lstm_states(
    lstm: torch.nn.LSTM, inputs: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Run a one-layer LSTM and return both states at every step, of which torch returns h alone.

    # Parameters

    lstm : `torch.nn.LSTM`
        Of one layer, with biases and without projections, in one direction or two.
    inputs : `torch.Tensor`
        Shape (batch_size, sequence_length, input_size); the padding has no effect.
    mask : `torch.Tensor`
        Shape (batch_size, sequence_length), bool, right-padded.

    # Returns

    `Tuple[torch.Tensor, torch.Tensor]`
        h and c, each (batch_size, sequence_length, num_directions * hidden_size), zero at padding.
    """
    return lstm_recurrence(inputs, mask, [_directions(lstm, 0)])


def lstm_final_states(
    lstm: torch.nn.LSTM,
    inputs: torch.Tensor,
    mask: torch.Tensor,
    initial: Optional[tuple[torch.Tensor, torch.Tensor]] = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Run an LSTM for a decoder that starts from its last states.

    # Parameters

    lstm : `torch.nn.LSTM`
        With `batch_first`, with or without biases, without projections.
    inputs : `torch.Tensor`
        Shape (batch_size, sequence_length, input_size); the padding has no effect.
    mask : `torch.Tensor`
        Shape (batch_size, sequence_length), bool, right-padded.
    initial : `Tuple[torch.Tensor, torch.Tensor]`, optional (default = zeros)
        h and c of all layers before the first step, each (batch_size, num_layers, hidden_size). For
        a single direction.

    # Returns

    `Tuple[torch.Tensor, torch.Tensor, torch.Tensor]`
        The outputs, (batch_size, sequence_length, num_directions * hidden_size), zero at padding;
        and h and c of all layers after a direction's last step, each (batch_size, num_layers,
        num_directions * hidden_size), the initial ones for an empty sentence.
    """
    if inputs.is_cuda and inputs.size(1) > 0:
        return _packed_final_states(lstm, inputs, mask, initial)
    outputs = inputs
    hidden, cell = [], []  # (B, 1, E) each
    for layer in range(lstm.num_layers):
        if layer > 0:
            outputs = F.dropout(outputs, lstm.dropout, lstm.training)
        before = initial and (initial[0][:, [layer]], initial[1][:, [layer]])  # (B, 1, H) each
        outputs, *states = lstm_last_states(
            outputs, mask, [_directions(lstm, layer)], initial=before
        )
        hidden.append(states[0])
        cell.append(states[1])
    return outputs, torch.cat(hidden, 1), torch.cat(cell, 1)


def _packed_final_states(
    lstm: torch.nn.LSTM,
    inputs: torch.Tensor,
    mask: torch.Tensor,
    initial: Optional[tuple[torch.Tensor, torch.Tensor]] = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The same by cuDNN, which takes packed batches as they are."""
    lengths = mask.sum(1)
    padding = ~mask.unsqueeze(-1)  # (B, T, 1)
    # An empty sentence cannot be packed: it takes one step over its padding.
    packed = pack_padded_sequence(
        inputs.masked_fill(padding, 0.0),
        lengths.clamp(min=1).cpu(),
        batch_first=True,
        enforce_sorted=False,
    )
    before = initial and tuple(x.transpose(0, 1).contiguous() for x in initial)  # (L, B, H) each
    packed_outputs, last_states = lstm(packed, before)  # (L * directions, B, H) each
    outputs, _ = pad_packed_sequence(packed_outputs, batch_first=True, total_length=inputs.size(1))
    hidden, cell = (
        state.unflatten(0, (lstm.num_layers, -1))  # (L, directions, B, H)
        .permute(2, 0, 1, 3)
        .flatten(2)  # (B, L, directions * H)
        for state in last_states
    )
    is_empty = lengths.eq(0)[:, None, None]  # (B, 1, 1)
    start = initial or (torch.zeros_like(hidden), torch.zeros_like(cell))
    return (
        outputs.masked_fill(padding, 0.0),
        torch.where(is_empty, start[0], hidden),
        torch.where(is_empty, start[1], cell),
    )


def _directions(lstm: torch.nn.LSTM, layer: int) -> list[LayerWeights]:
    """The parameters of a layer."""
    suffixes = [f"_l{layer}", f"_l{layer}_reverse"][: 1 + lstm.bidirectional]
    return [
        LayerWeights(
            getattr(lstm, "weight_ih" + suffix),
            getattr(lstm, "weight_hh" + suffix),
            getattr(lstm, "bias_ih" + suffix) + getattr(lstm, "bias_hh" + suffix)
            if lstm.bias
            else getattr(lstm, "weight_ih" + suffix).new_zeros(4 * lstm.hidden_size),
        )
        for suffix in suffixes
    ]
