r"""Long Short-Term Memory-Network: an LSTM that attends to all its earlier states.

Ersü, "Long Short-Term Memory-Networks for Machine Reading", after Cheng et al. 2016
(arXiv:1601.06733). The states of all earlier tokens are on a hidden tape h and a memory tape c. At
token t, with h~ and c~ the summaries of the tapes,

    a_i^t = v^T tanh(W_h h_i + W_x x_t + W_h~ h~_{t-1}),   i < t               (8)
    s_i^t = softmax over i of a_i^t                                            (9)
    [h~_t, c~_t] = sum_i s_i^t [h_i, c_i]                                      (10)
    [i_t, f_t, o_t, c^_t] = [sigmoid, sigmoid, sigmoid, tanh] W [h~_t, x_t]    (11)
    c_t = f_t * c~_t + i_t * c^_t                                              (12)
    h_t = o_t * tanh(c_t)                                                      (13)

with h~_1 = c~_1 = 0, because the tapes are empty.
"""

from typing import NamedTuple, Optional, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.configured_module import SequenceEncoder, uniform_parameter
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter
from allennlp_sentmatch.nn.ops.common.packing import check_states, reversed_indices
from allennlp_sentmatch.nn.ops.lstmn.naive import LSTMNWeights
from allennlp_sentmatch.nn.ops.lstmn.recurrence import lstmn_recurrence
from allennlp_sentmatch.nn.padding import check_padded

AttentionWeights = Union[Tensor, tuple[Tensor, Tensor]]


class Tapes(NamedTuple):
    """The states and the attention of an `LSTMN`."""

    #: (B, T, S * H) each, zero at padding; a second direction's states follow the first one's.
    hidden: Tensor
    cell: Tensor
    #: (B, T, T): row t holds s_i^t, over the tokens i before t (after t in the second direction).
    #: The rows of padding and of the first token read are zero. With two directions it is a pair,
    #: both in the sentence's order.
    attention: AttentionWeights


class LSTMN(SequenceEncoder):
    """A Long Short-Term Memory-Network encoder (equations 8-13 of the module's docstring).

    Its parameters are `weight_ih_l0` (4H, D), `weight_hh_l0` (4H, H) and `bias_l0` (4H), with
    blocks in the order i, f, g, o of `torch.nn.LSTM` (g is the paper's c^), and `attention_hidden`
    (A, H), `attention_input` (A, D), `attention_previous` (A, H) and `attention_vector` (A), the
    paper's W_h, W_x, W_h~ and v. The parameters of a second direction have the suffix `_reverse`.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of a direction's hidden state.
    attention_size : `int`, optional (default = `hidden_size`)
        A, the size of the layer that scores the tokens.
    bidirectional : `bool`, optional (default = `False`)
        Whether a second LSTMN reads the sentence from right to left.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        attention_size: Optional[int] = None,
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        attention_size = hidden_size if attention_size is None else attention_size
        check_positive(
            input_size=input_size,
            hidden_size=hidden_size,
            attention_size=attention_size,
        )
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.attention_size = attention_size
        self.bidirectional = bidirectional
        for suffix in self._suffixes:
            shapes = {
                "weight_ih_l0": (4 * hidden_size, input_size),
                "weight_hh_l0": (4 * hidden_size, hidden_size),
                "bias_l0": (4 * hidden_size,),
                "attention_hidden": (attention_size, hidden_size),
                "attention_input": (attention_size, input_size),
                "attention_previous": (attention_size, hidden_size),
                "attention_vector": (attention_size,),
            }
            for name, shape in shapes.items():
                parameter = uniform_parameter(*shape, bound=hidden_size**-0.5)
                self.register_parameter(name + suffix, parameter)

    def read(
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
        initial_state: Optional[tuple[Tensor, Tensor]] = None,
    ) -> Tapes:
        """Compute the tapes of a batch of sentences.

        `initial_state` is h~ and c~ at the first token of each direction, when the tapes are empty:
        (B, output_size) each, zero by default.
        """
        # Call the module, so that its hooks run; before torch 2.2, they may make a plain tuple.
        return Tapes._make(self(inputs, mask, return_tapes=True, initial_state=initial_state))

    def forward(
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
        return_attention: bool = False,
        return_tapes: bool = False,
        initial_state: Optional[tuple[Tensor, Tensor]] = None,
    ) -> Union[Tensor, tuple[Tensor, AttentionWeights], Tapes]:
        """Return the hidden tape; see `SequenceEncoder`.

        With `return_attention`, return the pair of `hidden` and `attention` from `read`; with
        `return_tapes`, return the result of `read` with the `initial_state`.
        """
        weights = [
            LSTMNWeights(*(getattr(self, name + suffix) for name in LSTMNWeights._fields))
            for suffix in self._suffixes
        ]
        dtype = weights[0].bias_l0.dtype
        inputs, full_mask = check_padded(inputs, mask, self.input_size, dtype)
        start = None
        if initial_state is not None:
            sizes = {"batch_size": inputs.size(0), "output_size": self.output_size}
            check_states(initial_state, sizes)
            halves = [torch.stack(state.chunk(len(weights), 1)) for state in initial_state]
            start = cast_to_parameter(torch.stack(halves), weights[0].bias_l0)  # (2, S, B, H)
        hidden, cell, attention = lstmn_recurrence(inputs, mask, weights, start)
        weights_of_tokens: AttentionWeights = attention[0]
        if self.bidirectional:
            row, source = reversed_indices(full_mask)  # (B, 1), (B, T)
            rows = source.unsqueeze(2)
            columns = source.unsqueeze(1)
            from_right = attention[1][row.unsqueeze(2), rows, columns]
            weights_of_tokens = (attention[0], from_right)
        if return_tapes:
            return Tapes(hidden, cell, weights_of_tokens)
        return (hidden, weights_of_tokens) if return_attention else hidden
