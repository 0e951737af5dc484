"""The last states of an encoder's layers, for a decoder to start from."""

from typing import Any, NamedTuple, Optional, Union

import torch
import torch.nn.functional as F
from allennlp.modules.seq2seq_encoders import PytorchSeq2SeqWrapper, Seq2SeqEncoder
from allennlp.nn.util import get_final_encoder_states
from torch import Tensor

from allennlp_sentmatch.modules.seq2seq_encoders import ModuleEncoder
from allennlp_sentmatch.nn.configured_module import LayeredEncoder
from allennlp_sentmatch.nn.padding import check_padded
from allennlp_sentmatch.nn.recurrent_networks import lstm_final_states


class StateSizes(NamedTuple):
    """The layout of an encoder's last states."""

    num_layers: int
    #: The width of a layer's states, both directions together.
    size: int


class EncoderStates(NamedTuple):
    """h and c of each layer after the last token, both directions concatenated, each
    (batch_size, num_layers, size).
    """

    hidden: Tensor
    cell: Tensor


def state_sizes(encoder: Seq2SeqEncoder) -> Optional[StateSizes]:
    """The sizes of the states that `encode_with_states` returns, or `None` if it returns none.

    AllenNLP's `lstm` and this package's `cas_lstm` and `stacked_rnn`, with the cell "lstm", have
    states; other encoders are known by their outputs alone.
    """
    module = _module_with_states(encoder)
    return None if module is None else StateSizes(module.num_layers, encoder.get_output_dim())


def encode_with_states(
    encoder: Seq2SeqEncoder, inputs: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor, Optional[EncoderStates]]:
    """Encode sentences (batch_size, num_tokens, input_size) with a right-padded mask.

    # Returns

    `tuple[Tensor, Tensor, Optional[EncoderStates]]`
        The encoder's outputs, (batch_size, num_tokens, output_size); its last output, (batch_size,
        output_size), as AllenNLP's `get_final_encoder_states` has it; and its last states, if
        `state_sizes` says that it has some. Empty sentences have outputs and states of zero.
    """
    if inputs.size(1) == 0:  # Not every encoder reads no token at all: let it read padding.
        inputs, mask = F.pad(inputs, (0, 0, 0, 1)), F.pad(mask, (0, 1))
        outputs, last_output, states = encode_with_states(encoder, inputs, mask)
        return outputs[:, :0], last_output, states
    module = _module_with_states(encoder)
    last_states: list[Tensor]
    if module is None:
        outputs, *last_states = (encoder(inputs, mask),)
    elif isinstance(module, torch.nn.LSTM):
        mask = check_padded(inputs, mask, module.input_size, module.all_weights[0][0].dtype)
        outputs, *last_states = lstm_final_states(module, inputs, mask)
    else:
        outputs, *last_states = module.last_states(inputs, mask)
    states = EncoderStates(*last_states) if last_states else None
    # An empty sentence has no last token; its first output is zero like all the others.
    with_token: Any = mask | (torch.arange(mask.size(1), device=mask.device) == 0)
    last_output = get_final_encoder_states(outputs, with_token, encoder.is_bidirectional())
    return outputs, last_output, states


def _module_with_states(
    encoder: Seq2SeqEncoder,
) -> Union[LayeredEncoder, torch.nn.LSTM, None]:
    """The module inside an encoder, if it returns its layers' states."""
    if isinstance(encoder, ModuleEncoder):
        module: Any = encoder.module
        return module if isinstance(module, LayeredEncoder) and module.has_cells else None
    if isinstance(encoder, PytorchSeq2SeqWrapper) and isinstance(encoder._module, torch.nn.LSTM):
        return encoder._module
    return None
