r"""Attention pooling of a question to one vector.

Wang et al., "Gated Self-Matching Networks for Reading Comprehension and Question Answering" (ACL
2017), section 3.4. With u^Q_1, ..., u^Q_M the encoded tokens of the question and V_r^Q a parameter,

    s_j = v^T tanh(W_u^Q u^Q_j + W_v^Q V_r^Q)                            (11)
    a = softmax(s),   r^Q = sum_j a_j u^Q_j
"""

from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter
from allennlp_sentmatch.nn.padding import mask_of
from allennlp_sentmatch.nn.reading_comprehension.initialization import uniform_parameter


class QuestionPooling(torch.nn.Module):
    """Attention pooling (equation 11 of the module's docstring).

    Its parameters are `attention_question` (A, Q), `attention_query` (A, A), `attention_vector` (A)
    and `query` (A), the paper's W_u^Q, W_v^Q, v and V_r^Q.

    # Parameters

    question_size : `int`
        Q, the size of a token's vector.
    attention_size : `int`, optional (default = `question_size`)
        A, the size of the layer that scores the tokens.

    # Raises

    `ValueError`
        If a size is not positive.
    """

    def __init__(self, question_size: int, attention_size: Optional[int] = None) -> None:
        super().__init__()
        A = question_size if attention_size is None else attention_size
        check_positive(question_size=question_size, attention_size=A)
        self.attention_question = uniform_parameter(A, question_size)
        self.attention_query = uniform_parameter(A, A)
        self.attention_vector = uniform_parameter(A)
        self.query = uniform_parameter(A)

    def forward(self, question: Tensor, mask: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
        """Pool B questions.

        # Parameters

        question : `Tensor`
            Shape (B, M, Q).
        mask : `Tensor`, optional (default = `None`)
            Shape (B, M), bool. `None`: nothing is padding.

        # Returns

        `tuple[Tensor, Tensor]`
            r^Q, (B, Q), zero for an empty question; and a, (B, M), zero at padding.
        """
        mask = mask_of(question, mask)
        question = cast_to_parameter(question, self.query).masked_fill(~mask.unsqueeze(-1), 0.0)
        dtype = question.dtype
        keys = torch.nn.functional.linear(question, self.attention_question)  # (B, M, A)
        hidden_layer = torch.tanh(keys + self.attention_query @ self.query)  # (B, M, A)
        scores = (hidden_layer @ self.attention_vector).to(dtype)  # (B, M)
        attention = masked_softmax(scores, mask)
        pooled = attention.unsqueeze(1).bmm(question).squeeze(1)  # (B, Q)
        return pooled.to(dtype), attention
