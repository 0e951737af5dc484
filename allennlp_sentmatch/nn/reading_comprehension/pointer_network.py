r"""A pointer network that selects the first and the last token of an answer in a passage.

Wang et al., "Gated Self-Matching Networks for Reading Comprehension and Question Answering" (ACL
2017), section 3.4, after Vinyals et al. (2015). With h^P_1, ..., h^P_T the passage's tokens and r^Q
the question's vector, at step 1 for the start and step 2 for the end

    s_j = v^T tanh(W_h^P h^P_j + W_h^a h^a_{t-1}),   p^t = softmax(s)    (9)
    c_t = sum_j p^t_j h^P_j,   h^a_t = GRU(h^a_{t-1}, c_t)               (10)

with h^a_0 = r^Q.
"""

from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast
from allennlp_sentmatch.nn.padding import mask_of
from allennlp_sentmatch.nn.reading_comprehension.initialization import uniform_parameter


class PointerNetwork(torch.nn.Module):
    """A pointer network of two steps (equations 9 and 10 of the module's docstring).

    Its parameters are `attention_passage` (A, P), `attention_previous` (A, Q) and
    `attention_vector` (A), the paper's W_h^P, W_h^a and v; and those of `gru`, a
    `torch.nn.GRUCell`.

    # Parameters

    passage_size : `int`
        P, the size of a passage token's vector.
    question_size : `int`
        Q, the size of the question's vector and of the state.
    attention_size : `int`, optional (default = `passage_size`)
        A, the size of the layer that scores the passage's tokens.

    # Raises

    `ValueError`
        If a size is not positive.
    """

    def __init__(
        self, passage_size: int, question_size: int, attention_size: Optional[int] = None
    ) -> None:
        super().__init__()
        A = passage_size if attention_size is None else attention_size
        check_positive(passage_size=passage_size, question_size=question_size, attention_size=A)
        self.attention_passage = uniform_parameter(A, passage_size)
        self.attention_previous = uniform_parameter(A, question_size)
        self.attention_vector = uniform_parameter(A)
        self.gru = torch.nn.GRUCell(passage_size, question_size)

    def forward(
        self, passage: Tensor, mask: Optional[Tensor], question: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Score the tokens of B passages.

        # Parameters

        passage : `Tensor`
            Shape (B, T, P).
        mask : `Optional[Tensor]`
            Shape (B, T), bool. `None`: nothing is padding.
        question : `Tensor`
            r^Q, shape (B, Q).

        # Returns

        `tuple[Tensor, Tensor]`
            The scores s of the start and of the end, (B, T) each. Those of padding mean nothing.
        """
        mask = mask_of(passage, mask)
        passage = cast_to_parameter(passage, self.attention_vector)
        question = cast_to_parameter(question, self.attention_vector)
        passage = passage.masked_fill(~mask.unsqueeze(-1), 0.0)
        keys = torch.nn.functional.linear(passage, self.attention_passage)  # (B, T, A)
        start = self._scores(keys, question)
        weights = masked_softmax(start, mask)  # (B, T)
        context = weights.unsqueeze(1).bmm(passage).squeeze(1)  # (B, P)
        # Not every torch can run its GRUCell under autocast on the CPU.
        with without_autocast(passage.device):
            state = self.gru(context.to(passage.dtype), question)  # (B, Q)
        return start, self._scores(keys, state)

    def _scores(self, keys: Tensor, state: Tensor) -> Tensor:
        query = torch.nn.functional.linear(state, self.attention_previous)  # (B, A)
        hidden_layer = torch.tanh(keys + query.unsqueeze(1))  # (B, T, A)
        return (hidden_layer @ self.attention_vector).to(state.dtype)
