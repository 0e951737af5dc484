"""torch's own recurrent networks over padded batches."""

from collections.abc import Sequence
from typing import Union

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from allennlp_sentmatch.nn.lstm_states import lstm_states
from allennlp_sentmatch.nn.ops.common.autocast import widened, without_autocast
from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences
from allennlp_sentmatch.nn.ops.common.scan import Tensors, is_exporting, scan


def run_networks(
    networks: Sequence[Union[torch.nn.LSTM, torch.nn.GRU]], inputs: Tensor, mask: Tensor
) -> list[Tensor]:
    """Run networks that read the same sentences.

    # Parameters

    networks : `Sequence[Union[torch.nn.LSTM, torch.nn.GRU]]`
        Each of one layer, with `batch_first`.
    inputs : `Tensor`
        Shape (B, T, D). Padding may hold anything.
    mask : `Tensor`
        Shape (B, T), bool, right-padded.

    # Returns

    `List[Tensor]`
        The outputs of each network, (B, T, E), zero at padding.
    """
    if inputs.size(1) == 0:
        return [
            inputs.new_zeros(inputs.size(0), 0, network.hidden_size * (1 + network.bidirectional))
            for network in networks
        ]
    inputs = widened(inputs, networks[0].all_weights[0][0])
    padding = ~mask.unsqueeze(-1)  # (B, T, 1)
    # Padding must not matter, not even NaN in a product with zero.
    inputs = inputs.masked_fill(padding, 0.0)
    if is_exporting():  # which can have no lengths as numbers
        return [
            _run_padded(network, inputs, mask).masked_fill(padding, 0.0) for network in networks
        ]
    packed: Union[Tensor, PackedSequence] = inputs
    lengths = mask.sum(1).cpu()  # (B)
    if (lengths < inputs.size(1)).any():
        # An empty sentence cannot be packed: it takes one step over its padding.
        packed = pack_padded_sequence(
            inputs, lengths.clamp(min=1), batch_first=True, enforce_sorted=False
        )
    outputs = [_run(network, packed, inputs.size(1)) for network in networks]
    if (lengths == 0).any():
        outputs = [output.masked_fill(padding, 0.0) for output in outputs]
    return outputs


def _run(
    network: Union[torch.nn.LSTM, torch.nn.GRU],
    inputs: Union[Tensor, PackedSequence],
    num_tokens: int,
) -> Tensor:
    # Not every torch and CPU can run torch's own recurrent networks under autocast.
    with without_autocast(torch.device("cpu")):
        outputs, _ = network(inputs)
    if isinstance(outputs, PackedSequence):
        outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=num_tokens)
    states: Tensor = outputs.to(network.all_weights[0][0].dtype)
    return states


def _run_padded(
    network: Union[torch.nn.LSTM, torch.nn.GRU], inputs: Tensor, mask: Tensor
) -> Tensor:
    """Run a network of one layer by operations that `torch.export` can record for any length."""
    if isinstance(network, torch.nn.LSTM):
        return lstm_states(network, inputs, mask)[0]
    outputs = []
    for reverse, weights in enumerate(network.all_weights):
        x = reverse_sentences(inputs, mask) if reverse else inputs
        output = _run_gru(x, *weights)
        outputs.append(reverse_sentences(output, mask) if reverse else output)
    return torch.cat(outputs, -1)


def _run_gru(
    inputs: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor, bias_hh: Tensor
) -> Tensor:
    """Run one direction of a `torch.nn.GRU` over inputs (B, T, D)."""

    def step(state: Tensors, at_step: Tensors) -> tuple[Tensors, Tensors]:
        (h,), (x,) = state, at_step  # (B, H), (B, 3H)
        x_r, x_z, x_n = x.chunk(3, 1)
        u_r, u_z, u_n = F.linear(h, weight_hh, bias_hh).chunk(3, 1)
        z = (x_z + u_z).sigmoid()
        n = (x_n + (x_r + u_r).sigmoid() * u_n).tanh()
        h = (1 - z) * n + z * h
        return (h,), (h,)

    projected = F.linear(inputs, weight_ih, bias_ih)  # (B, T, 3H)
    initial = projected.new_zeros(inputs.size(0), weight_hh.size(1))
    _, (outputs,) = scan(step, (initial,), [projected.transpose(0, 1)])
    return outputs.transpose(0, 1)
