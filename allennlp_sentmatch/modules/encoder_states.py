"""The last states of an encoder's layers, for a decoder to start from."""

from typing import Any, Optional, Union

import torch
from allennlp.modules.seq2seq_encoders import PytorchSeq2SeqWrapper, Seq2SeqEncoder
from torch import Tensor

from allennlp_sentmatch.modules.seq2seq_encoders import ModuleEncoder
from allennlp_sentmatch.nn import DecoderState
from allennlp_sentmatch.nn.configured_module import LayeredEncoder
from allennlp_sentmatch.nn.ops.common.packing import at_least_one_step, last_states
from allennlp_sentmatch.nn.padding import check_padded
from allennlp_sentmatch.nn.recurrent_networks import lstm_final_states, precision_of


def num_layers_with_states(encoder: Seq2SeqEncoder) -> int:
    """Return the number of layers whose states `encode_with_states` returns; 0 if it returns none.

    AllenNLP's `lstm` and this package's `cas_lstm` and `stacked_rnn`, with the cell "lstm", have
    states; of other encoders, only the outputs are known.
    """
    module = _module_with_states(encoder)
    return 0 if module is None else module.num_layers


def encode_with_states(
    encoder: Seq2SeqEncoder,
    inputs: Tensor,
    mask: Tensor,
) -> tuple[Tensor, Tensor, Optional[DecoderState]]:
    """Encode sentences (B, T, D) with a right-padded mask (B, T).

    Return the encoder's outputs (B, T, E); its last output (B, E), as in AllenNLP's
    `get_final_encoder_states`; and, if the encoder has states, the states of each of L layers after
    the last token, both directions concatenated, (B, L, E) each. Empty sentences have outputs and
    states of zero.
    """
    if inputs.size(1) == 0:
        inputs, mask = at_least_one_step(inputs, mask)
        outputs, last_output, states = encode_with_states(encoder, inputs, mask)
        return outputs[:, :0], last_output, states
    module = _module_with_states(encoder)
    last: Optional[DecoderState] = None
    if module is None:
        outputs = encoder(inputs, mask)
    elif isinstance(module, torch.nn.LSTM):
        inputs, mask = check_padded(inputs, mask, module.input_size, precision_of(module))
        outputs, hidden, cell = lstm_final_states(module, inputs, mask)
        last = DecoderState(hidden, cell)
    else:
        outputs, hidden, cell = module.last_states(inputs, mask)
        last = DecoderState(hidden, cell)
    last_output = last_states(outputs, mask, 1 + encoder.is_bidirectional())
    return outputs, last_output, last


def _module_with_states(encoder: Seq2SeqEncoder) -> Union[LayeredEncoder, torch.nn.LSTM, None]:
    """Return the module inside an encoder, if it returns its layers' states."""
    if isinstance(encoder, ModuleEncoder):
        module: Any = encoder.module
        has_cells = isinstance(module, LayeredEncoder) and module.has_cells
        return module if has_cells else None
    if isinstance(encoder, PytorchSeq2SeqWrapper) and isinstance(encoder._module, torch.nn.LSTM):
        return encoder._module
    return None
