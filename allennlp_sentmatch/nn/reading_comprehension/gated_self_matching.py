r"""Gated self-matching: a passage read with attention to all of itself.

Wang et al., "Gated Self-Matching Networks for Reading Comprehension and Question Answering" (ACL
2017), section 3.3. With v^P_1, ..., v^P_T the passage's tokens as matched with the question,

    s_j = v^T tanh(W_v^P v^P_j + W_v^P~ v^P_t)                           (8)
    a = softmax(s),   c_t = sum_j a_j v^P_j
    g_t = sigmoid(W_g [v^P_t; c_t])
    h^P_t = BiGRU(h^P_{t-1}, g_t * [v^P_t; c_t])                         (7)

The attention does not depend on the GRU's states, so that it is the same in both directions and
computed for all t at once.
"""

from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.additive_scores import additive_scores
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter
from allennlp_sentmatch.nn.padding import check_padded
from allennlp_sentmatch.nn.reading_comprehension.initialization import uniform_parameter
from allennlp_sentmatch.nn.recurrent_networks import run_networks


class GatedSelfMatching(torch.nn.Module):
    """Gated self-matching (equations 7 and 8 of the module's docstring).

    Its parameters are `attention_key` (A, D), `attention_query` (A, D) and `attention_vector` (A),
    the paper's W_v^P, W_v^P~ and v; `gate` (2D, 2D), W_g; and those of `gru`, a `torch.nn.GRU`.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of the state in each direction.
    attention_size : `int`, optional (default = `hidden_size`)
        A, the size of the layer that scores the tokens.

    # Raises

    `ValueError`
        If a size is not positive.
    """

    def __init__(
        self, input_size: int, hidden_size: int, attention_size: Optional[int] = None
    ) -> None:
        super().__init__()
        D, A = input_size, hidden_size if attention_size is None else attention_size
        check_positive(input_size=D, hidden_size=hidden_size, attention_size=A)
        self.input_size = input_size
        self.attention_key = uniform_parameter(A, D)
        self.attention_query = uniform_parameter(A, D)
        self.attention_vector = uniform_parameter(A)
        self.gate = uniform_parameter(2 * D, 2 * D)
        self.gru = torch.nn.GRU(2 * D, hidden_size, batch_first=True, bidirectional=True)

    @property
    def output_size(self) -> int:
        """The size of a token's vector, 2H."""
        return 2 * self.gru.hidden_size

    def forward(self, passage: Tensor, mask: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
        """Match B passages with themselves.

        # Parameters

        passage : `Tensor`
            Shape (B, T, D).
        mask : `Tensor`, optional (default = `None`)
            Shape (B, T), bool, right-padded. `None`: nothing is padding.

        # Returns

        `tuple[Tensor, Tensor]`
            h^P, (B, T, output_size), and a, (B, T, T), a row for each t; both zero at padding.

        # Raises

        `TypeError`
            If the type of an argument is wrong.
        `ValueError`
            If a shape is wrong, or a token follows padding.
        """
        full_mask = check_padded(
            passage, mask, self.input_size, self.gate.dtype, ("passage", "mask")
        )
        padding = ~full_mask.unsqueeze(-1)  # (B, T, 1)
        passage = cast_to_parameter(passage, self.gate).masked_fill(padding, 0.0)
        dtype = passage.dtype
        keys = F.linear(passage, self.attention_key).to(dtype)  # (B, T, A)
        queries = F.linear(passage, self.attention_query).to(dtype)  # (B, T, A)
        scores = additive_scores(queries, keys, self.attention_vector)  # (B, T, T)
        attention = masked_softmax(scores.to(dtype), ~(padding | padding.transpose(1, 2)))
        context = attention.bmm(passage).to(dtype)  # (B, T, D)
        inputs = torch.cat([passage, context], -1)  # (B, T, 2D)
        gate = torch.sigmoid(F.linear(inputs, self.gate)).to(dtype)  # (B, T, 2D)
        (states,) = run_networks([self.gru], gate * inputs, mask)
        return states, attention
