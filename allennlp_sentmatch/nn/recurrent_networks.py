"""torch's own recurrent networks over padded batches.

On a CPU, the steps of this package run GRUs faster than torch, and train them in half to two thirds
of its time. On an Intel processor they train LSTMs in 0.6 to 0.9 of its time over batches of which
38 % is padding, which they skip, but take 1.0 to 1.3 times as long without padding (32 to 64
sentences, 75 to 300 units; Xeon with AMX, torch 2.13, one and two threads). On an AMD EPYC they are
as fast as torch's LSTM on one thread, and slower on several. torch's networks take the rest, such
as functions compiled by `torch.compile`, installations without a C++ compiler, and GPUs, where
cuDNN takes packed batches as they are.

On a CPU, torch trains over a padded batch faster than over a packed one: 32 sentences of 5 to 40
tokens take 1.5 times as long packed (150 or 300 units), passages of 150 to 200 tokens 7 to 9 times
(75 units; torch 2.13, one thread). Padding on the right does not affect a network that reads from
left to right, and the other direction reads each sentence reversed, its padding still on the right.
Without gradients, packing saves the steps of the padding, and batches are packed where that is
faster.
"""

from collections.abc import Sequence
from typing import Any, Union, get_args

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from allennlp_sentmatch.nn.ops.backends import Name, is_compiling_or_tracing, resolve
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast
from allennlp_sentmatch.nn.ops.common.products import MKLProducts
from allennlp_sentmatch.nn.ops.common.reversal import reversed_indices
from allennlp_sentmatch.nn.ops.common.scan import is_exporting
from allennlp_sentmatch.nn.ops.gru.recurrence import gru_recurrence
from allennlp_sentmatch.nn.ops.gru.weights import GRUWeights
from allennlp_sentmatch.nn.ops.lstm.recurrence import lstm_recurrence
from allennlp_sentmatch.nn.ops.lstm.weights import LayerWeights
from allennlp_sentmatch.nn.padding import zero_outputs

Network = Union[torch.nn.LSTM, torch.nn.GRU]


def run_networks(networks: Sequence[Network], inputs: Tensor, mask: Tensor) -> list[Tensor]:
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
        B = inputs.size(0)
        return [
            zero_outputs(network, inputs, (B, 0, network.hidden_size * (1 + network.bidirectional)))
            for network in networks
        ]
    # Padding must not matter, not even NaN in a product with zero.
    padding = ~mask.unsqueeze(-1)  # (B, T, 1)
    inputs = cast_to_parameter(inputs, networks[0].all_weights[0][0]).masked_fill(padding, 0.0)
    # Not every torch and CPU can run torch's own recurrent networks under autocast.
    with without_autocast(torch.device("cpu")):
        outputs = [_run(network, inputs, mask) for network in networks]
    return [
        output.to(network.all_weights[0][0].dtype).masked_fill(padding, 0.0)
        for network, output in zip(networks, outputs)
    ]


def _run(network: Network, inputs: Tensor, mask: Tensor) -> Tensor:
    if is_exporting() or _is_faster_compiled(network, inputs, mask):
        return _run_layers(network, inputs, mask)
    if _is_faster_packed(network, mask):
        return _run_packed(network, inputs, mask)
    return _run_padded(network, inputs, mask)


def _is_faster_compiled(network: Network, inputs: Tensor, mask: Tensor) -> bool:
    """Whether this package's steps, compiled from C++, can run and are faster than torch's."""
    if inputs.device.type != "cpu" or is_compiling_or_tracing():
        return False
    backend = resolve("the network", get_args(Name), inputs, *network.parameters())
    if backend.name != "cpu" or isinstance(network, torch.nn.GRU):
        return backend.name == "cpu"
    # The share of tokens below which skipping the padding of an LSTM saves time.
    skips_enough = mask.float().mean() < 0.85
    return backend.products is MKLProducts and torch.is_grad_enabled() and bool(skips_enough)


def _run_layers(network: Network, inputs: Tensor, mask: Tensor) -> Tensor:
    """Run a network's layers by this package's recurrences."""
    weights = iter(network.all_weights)  # of each direction of each layer
    outputs = inputs
    for layer in range(network.num_layers):
        if layer > 0:
            outputs = F.dropout(outputs, network.dropout, network.training)
        directions: list[list[Tensor]] = [
            list(next(weights)) for _ in range(1 + network.bidirectional)
        ]
        if not network.bias:
            zeros = inputs.new_zeros(directions[0][0].size(0))
            directions = [[*matrices, zeros, zeros] for matrices in directions]
        if isinstance(network, torch.nn.LSTM):
            lstm = [LayerWeights(w_ih, w_hh, b_ih + b_hh) for w_ih, w_hh, b_ih, b_hh in directions]
            outputs, _ = lstm_recurrence(outputs, mask, [lstm])
        else:
            gru = [GRUWeights(*parameters) for parameters in directions]
            outputs = gru_recurrence(outputs, mask, gru)
    return outputs


def _is_faster_packed(network: Network, mask: Tensor) -> bool:
    if mask.is_cuda:
        return True
    if is_compiling_or_tracing() or torch.is_grad_enabled():
        return False
    # The share of tokens below which packing is faster (32 sentences of at most 40 or 200 tokens,
    # 75 to 300 units). oneDNN runs LSTMs over padded batches, faster than torch's steps of a packed
    # batch until these are large, from about 256 units on. It does not run GRUs.
    if isinstance(network, torch.nn.GRU):
        limit = 0.9
    else:
        limit = 0.75 if network.hidden_size >= 256 else 0.5
    return bool(mask.float().mean() < limit)


def _run_padded(network: Network, inputs: Tensor, mask: Tensor) -> Tensor:
    if not is_compiling_or_tracing() and mask.all():
        outputs: Tensor = network(inputs)[0]
        return outputs
    reversal = reversed_indices(mask)
    weights = iter(network.all_weights)  # of each direction of each layer
    outputs = inputs
    for layer in range(network.num_layers):
        if layer > 0:
            outputs = F.dropout(outputs, network.dropout, network.training)
        directions = [_run_direction(network, outputs, next(weights))]
        if network.bidirectional:
            reverse = _run_direction(network, outputs[reversal], next(weights))
            directions.append(reverse[reversal])
        outputs = torch.cat(directions, -1)
    return outputs


def _run_direction(network: Network, inputs: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """The states (B, T, H) of one layer that reads from left to right."""
    state = inputs.new_zeros(1, inputs.size(0), network.hidden_size)
    options = (network.bias, 1, 0.0, network.training, False, True)
    functions: Any = torch._VF
    outputs: Tensor
    if isinstance(network, torch.nn.LSTM):
        outputs = functions.lstm(inputs, (state, state), weights, *options)[0]
    else:
        outputs = functions.gru(inputs, state, weights, *options)[0]
    return outputs


def _run_packed(network: Network, inputs: Tensor, mask: Tensor) -> Tensor:
    lengths = mask.sum(1).cpu()  # (B)
    # An empty sentence cannot be packed: it takes one step over its padding.
    packed = pack_padded_sequence(
        inputs, lengths.clamp(min=1), batch_first=True, enforce_sorted=False
    )
    outputs: Tensor = pad_packed_sequence(
        network(packed)[0], batch_first=True, total_length=inputs.size(1)
    )[0]
    return outputs
