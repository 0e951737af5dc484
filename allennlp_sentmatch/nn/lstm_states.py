"""Both states of a `torch.nn.LSTM` at every step, of which it returns only one, h."""

import torch
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autocast import widened, without_autocast
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences
from allennlp_sentmatch.nn.ops.lstm.layer import lstm_layer


def lstm_states(
    lstm: torch.nn.LSTM, inputs: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Read a batch of sentences with a one-layer LSTM.

    # Parameters

    lstm : `torch.nn.LSTM`
        Of one layer, with biases and without projections, in one direction or two.
    inputs : `torch.Tensor`
        Shape (batch_size, sequence_length, input_size); what is in the padding has no effect.
    mask : `torch.Tensor`
        Shape (batch_size, sequence_length), bool, right-padded.

    # Returns

    `Tuple[torch.Tensor, torch.Tensor]`
        h and c, each (batch_size, sequence_length, num_directions * hidden_size), zero at padding.
    """
    directions = [
        [getattr(lstm, name + suffix) for name in ("weight_ih_l0", "weight_hh_l0")]
        + [getattr(lstm, "bias_ih_l0" + suffix) + getattr(lstm, "bias_hh_l0" + suffix)]
        for suffix in (("", "_reverse") if lstm.bidirectional else ("",))
    ]
    inputs = widened(inputs, directions[0][0])
    implementations: tuple[Name, ...] = ("naive", "eager", "cpu", "gpu")
    backend = resolve("the states of an LSTM", implementations, inputs, *lstm.parameters())
    if backend.name != "naive" and mask.any():
        packing = Packing.of(mask, lstm.bidirectional)
        weight_ih, weight_hh, biases = zip(*directions)
        bias = torch.stack(biases)  # (number of directions, 4H)
        with without_autocast(inputs.device):
            hidden, cell = lstm_layer(
                backend, packing.pack(inputs), weight_ih, weight_hh, bias, packing
            )
        return packing.unpack(hidden), packing.unpack(cell)
    padding = ~mask.unsqueeze(-1)  # (B, T, 1)
    inputs = inputs.masked_fill(padding, 0.0)
    hidden, cell = _read(inputs, *directions[0])
    if lstm.bidirectional:
        backward = _read(reverse_sentences(inputs, mask), *directions[1])
        hidden = torch.cat([hidden, reverse_sentences(backward[0], mask)], -1)
        cell = torch.cat([cell, reverse_sentences(backward[1], mask)], -1)
    return hidden.masked_fill(padding, 0.0), cell.masked_fill(padding, 0.0)


def _read(
    inputs: torch.Tensor, weight_ih: torch.Tensor, weight_hh: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """H and c of one direction, (B, T, H) each, from left to right."""
    projected = F.linear(inputs, weight_ih, bias)  # (B, T, 4H)
    hidden = cell = projected.new_zeros(inputs.size(0), weight_hh.size(1))  # (B, H)
    hiddens, cells = [hidden.unsqueeze(1)[:, :0]], [hidden.unsqueeze(1)[:, :0]]  # for T = 0
    for step in range(inputs.size(1)):
        i, f, g, o = (projected[:, step] + F.linear(hidden, weight_hh)).chunk(4, 1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * cell.tanh()
        hiddens.append(hidden.unsqueeze(1))
        cells.append(cell.unsqueeze(1))
    return torch.cat(hiddens, 1), torch.cat(cells, 1)
