"""The last states of an encoder's layers, for a decoder to start from."""

from typing import Any, NamedTuple, Optional, Union

import torch
from allennlp.modules.seq2seq_encoders import PytorchSeq2SeqWrapper, Seq2SeqEncoder
from allennlp.nn.util import get_final_encoder_states
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import CellAwareLSTM


class StateSizes(NamedTuple):
    """The layout of an encoder's last states."""

    num_layers: int
    #: The width of a layer's states, both directions together.
    size: int


class EncoderStates(NamedTuple):
    """h and c of each layer after the last token, both directions concatenated.

    Each has the shape (batch_size, num_layers, size).
    """

    hidden: Tensor
    cell: Tensor


def state_sizes(encoder: Seq2SeqEncoder) -> Optional[StateSizes]:
    """The sizes of the states that `encode_with_states` returns, or `None` if it returns none.

    AllenNLP's `lstm` and this package's `cas_lstm` have states; other encoders are known by their
    outputs alone.
    """
    module = _module_with_states(encoder)
    return None if module is None else StateSizes(module.num_layers, encoder.get_output_dim())


def encode_with_states(
    encoder: Seq2SeqEncoder, inputs: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor, Optional[EncoderStates]]:
    """Encode a batch of sentences.

    # Parameters

    encoder : `Seq2SeqEncoder`
    inputs : `Tensor`
        Shape (batch_size, num_tokens, input_size).
    mask : `Tensor`
        Shape (batch_size, num_tokens), bool, right-padded.

    # Returns

    `tuple[Tensor, Tensor, Optional[EncoderStates]]`
        The encoder's outputs, (batch_size, num_tokens, output_size); its last output, (batch_size,
        output_size), as AllenNLP's `get_final_encoder_states` has it; and its last states, if
        `state_sizes` says that it has some.
    """
    states: Optional[EncoderStates] = None
    module = _module_with_states(encoder)
    if isinstance(module, CellAwareLSTM):
        outputs, *last_states = module.last_states(inputs, mask)
        states = EncoderStates(*last_states)
    elif module is not None:
        outputs, states = _run_lstm(module, inputs, mask)
    else:
        outputs = encoder(inputs, mask)
    # An empty sentence has no last token; its first output is zero like all the others.
    with_token: Any = mask | (torch.arange(mask.size(1), device=mask.device) == 0)
    last_output = get_final_encoder_states(outputs, with_token, encoder.is_bidirectional())
    return outputs, last_output, states


def _module_with_states(
    encoder: Seq2SeqEncoder,
) -> Union[CellAwareLSTM, torch.nn.LSTM, None]:
    """The module inside an encoder, if its layers' states can be had."""
    if isinstance(encoder, ModuleEncoder) and isinstance(encoder.module, CellAwareLSTM):
        return encoder.module
    if isinstance(encoder, PytorchSeq2SeqWrapper) and isinstance(encoder._module, torch.nn.LSTM):
        return encoder._module
    return None


def _run_lstm(lstm: torch.nn.LSTM, inputs: Tensor, mask: Tensor) -> tuple[Tensor, EncoderStates]:
    """The outputs and the last states of a `torch.nn.LSTM`, zero for empty sentences."""
    lengths = mask.sum(1)
    packed = pack_padded_sequence(
        inputs, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
    )
    packed_outputs, last_states = lstm(packed)  # (L * directions, B, H) each
    outputs, _ = pad_packed_sequence(packed_outputs, batch_first=True, total_length=inputs.size(1))
    hidden, cell = (
        state.unflatten(0, (lstm.num_layers, -1))  # (L, directions, B, H)
        .permute(2, 0, 1, 3)
        .flatten(2)  # (B, L, directions * H)
        .masked_fill(lengths.eq(0)[:, None, None], 0)
        for state in last_states
    )
    return outputs.masked_fill(~mask.unsqueeze(-1), 0), EncoderStates(hidden, cell)
