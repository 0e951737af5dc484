"""Both states of a `torch.nn.LSTM` at every step, of which it returns h alone."""

import torch

from allennlp_sentmatch.nn.ops.lstm.recurrence import lstm_recurrence
from allennlp_sentmatch.nn.ops.lstm.weights import LayerWeights


def lstm_states(
    lstm: torch.nn.LSTM, inputs: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Run a one-layer LSTM over a batch of sentences.

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
    directions = [
        LayerWeights(
            getattr(lstm, "weight_ih_l0" + suffix),
            getattr(lstm, "weight_hh_l0" + suffix),
            getattr(lstm, "bias_ih_l0" + suffix) + getattr(lstm, "bias_hh_l0" + suffix),
        )
        for suffix in (("", "_reverse") if lstm.bidirectional else ("",))
    ]
    return lstm_recurrence(inputs, mask, [directions])
