"""torch's own recurrent networks over padded batches."""

from collections.abc import Sequence
from typing import Union

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from allennlp_sentmatch.nn.ops.common.autocast import widened, without_autocast


def run_networks(
    networks: Sequence[Union[torch.nn.LSTM, torch.nn.GRU]], inputs: Tensor, mask: Tensor
) -> list[Tensor]:
    """Run networks that read the same sentences.

    # Parameters

    networks : `Sequence[Union[torch.nn.LSTM, torch.nn.GRU]]`
        Each with `batch_first`.
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
