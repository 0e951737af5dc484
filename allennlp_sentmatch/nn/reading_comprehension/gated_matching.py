r"""Gated attention-based recurrent network: a passage read with attention to a question.

Wang et al., "Gated Self-Matching Networks for Reading Comprehension and Question Answering" (ACL
2017), section 3.2. With u^Q_1, ..., u^Q_M and u^P_1, ..., u^P_T the encoded tokens of the question
and the passage,

    s_j = v^T tanh(W_u^Q u^Q_j + W_u^P u^P_t + W_v^P v^P_{t-1})          (4)
    a = softmax(s),   c_t = sum_j a_j u^Q_j
    g_t = sigmoid(W_g [u^P_t; c_t])                                      (6)
    v^P_t = GRU(v^P_{t-1}, g_t * [u^P_t; c_t])                           (5)

with v^P_0 = 0. Section 4.1: the passage is read in both directions. The paper's letters recur in
other layers, where they are other parameters here.
"""

from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.additive_scores import additive_scores
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast
from allennlp_sentmatch.nn.ops.common.cells import gru_cell
from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan
from allennlp_sentmatch.nn.padding import check_padded
from allennlp_sentmatch.nn.reading_comprehension.initialization import uniform_parameter


class GatedMatching(torch.nn.Module):
    """Gated attention-based matching (equations 4-6 of the module's docstring).

    Its parameters are `attention_question` (A, Q), `attention_passage` (A, P),
    `attention_previous` (A, H) and `attention_vector` (A), the paper's W_u^Q, W_u^P, W_v^P and v;
    `gate` (P + Q, P + Q), W_g; and `weight_ih_l0` (3H, P + Q), `weight_hh_l0` (3H, H),
    `bias_ih_l0` (3H) and `bias_hh_l0` (3H), as `torch.nn.GRU` has them. The parameters of the
    second direction have the suffix `_reverse`.

    # Parameters

    passage_size : `int`
        P, the size of a passage token's vector.
    question_size : `int`
        Q, the size of a question token's vector.
    hidden_size : `int`
        H, the size of the state in each direction.
    attention_size : `int`, optional (default = `hidden_size`)
        A, the size of the layer that scores the question's tokens.
    bidirectional : `bool`, optional (default = `True`)
        Whether the passage is also read from right to left.

    # Raises

    `ValueError`
        If a size is not positive.
    """

    gate: Tensor

    def __init__(
        self,
        passage_size: int,
        question_size: int,
        hidden_size: int,
        attention_size: Optional[int] = None,
        bidirectional: bool = True,
    ) -> None:
        super().__init__()
        P, Q, H = passage_size, question_size, hidden_size
        A = hidden_size if attention_size is None else attention_size
        check_positive(passage_size=P, question_size=Q, hidden_size=H, attention_size=A)
        self.passage_size = passage_size
        self.question_size = question_size
        self.hidden_size = hidden_size
        self.attention_size = A
        self.bidirectional = bidirectional
        self._suffixes = ("", "_reverse") if bidirectional else ("",)
        for suffix in self._suffixes:
            for name, shape in [
                ("attention_question", (A, Q)),
                ("attention_passage", (A, P)),
                ("attention_previous", (A, H)),
                ("attention_vector", (A,)),
                ("gate", (P + Q, P + Q)),
            ]:
                self.register_parameter(name + suffix, uniform_parameter(*shape))
            for name, parameter in torch.nn.GRU(P + Q, H).named_parameters():
                self.register_parameter(name + suffix, parameter)

    @property
    def output_size(self) -> int:
        """The size of a token's vector: `hidden_size` times the number of directions."""
        return self.hidden_size * len(self._suffixes)

    def extra_repr(self) -> str:
        """The settings, in the constructor's order."""
        return (
            f"{self.passage_size}, {self.question_size}, {self.hidden_size}, "
            f"attention_size={self.attention_size}, bidirectional={self.bidirectional}"
        )

    def forward(
        self,
        passage: Tensor,
        passage_mask: Optional[Tensor],
        question: Tensor,
        question_mask: Optional[Tensor],
    ) -> tuple[Tensor, list[Tensor]]:
        """Match B passages with their questions.

        # Parameters

        passage : `Tensor`
            Shape (B, T, P).
        passage_mask : `Optional[Tensor]`
            Shape (B, T), bool, right-padded. `None`: nothing is padding.
        question : `Tensor`
            Shape (B, M, Q).
        question_mask : `Optional[Tensor]`
            Shape (B, M), bool, right-padded. `None`: nothing is padding.

        # Returns

        `Tuple[Tensor, List[Tensor]]`
            v^P, (B, T, output_size), zero at padding; and a for each direction, (B, T, M), in the
            passage's order and zero at padding. With an empty question, c_t is zero.

        # Raises

        `TypeError`
            If the type of an argument is wrong.
        `ValueError`
            If a shape is wrong, or a token follows padding.
        """
        dtype = self.gate.dtype
        passage_mask = check_padded(
            passage, passage_mask, self.passage_size, dtype, ("passage", "passage_mask")
        )
        question_mask = check_padded(
            question, question_mask, self.question_size, dtype, ("question", "question_mask")
        )
        if passage.size(0) != question.size(0):
            raise ValueError(
                "passage and question must have the same batch size, "
                f"got {passage.size(0)} and {question.size(0)}"
            )
        padding = ~passage_mask.unsqueeze(-1)  # (B, T, 1)
        # Clear the padding: NaN in it would reach the weights' gradients.
        passage = cast_to_parameter(passage, self.gate).masked_fill(padding, 0.0)
        question = cast_to_parameter(question, self.gate)
        question = question.masked_fill(~question_mask.unsqueeze(-1), 0.0)
        states, attentions = [], []
        with without_autocast(passage.device):
            for suffix in self._suffixes:
                in_order = reverse_sentences(passage, passage_mask) if suffix else passage
                results = self._one_direction(in_order, question, question_mask, suffix)
                if suffix:
                    results = [reverse_sentences(x, passage_mask) for x in results]
                matched, attention = (x.masked_fill(padding, 0.0) for x in results)
                states.append(matched)
                attentions.append(attention)
        return torch.cat(states, -1), attentions

    def _one_direction(
        self, passage: Tensor, question: Tensor, question_mask: Tensor, suffix: str
    ) -> list[Tensor]:
        """The states (B, T, H) and the attention (B, T, M) from left to right."""
        P, H, A = self.passage_size, self.hidden_size, self.attention_size

        def weight(name: str) -> Tensor:
            parameter: Tensor = getattr(self, name + suffix)
            return parameter

        by_passage, by_context = weight("gate").split([P, self.question_size], 1)
        # From the state to r, z and n and to the query.
        state_weight = torch.cat([weight("weight_hh_l0"), weight("attention_previous")])
        state_bias = F.pad(weight("bias_hh_l0"), (0, A))  # (3H + A)
        keys = F.linear(question, weight("attention_question"))  # (B, M, A)

        def step(state: Tensors, at_step: Tensors) -> StepResult:
            (v,), (u, query, gate) = state, at_step  # (B, H), (B, P), (B, A), (B, D)
            from_state = F.linear(v, state_weight, state_bias)  # (B, 3H + A)
            query = (query + from_state[:, 3 * H :]).unsqueeze(1)
            scores = additive_scores(query, keys, weight("attention_vector"))  # (B, 1, M)
            a = masked_softmax(scores, question_mask.unsqueeze(1))
            c = a.bmm(question).squeeze(1)  # (B, Q)
            x = torch.sigmoid(gate + F.linear(c, by_context)) * torch.cat([u, c], -1)  # (B, D)
            from_input = F.linear(x, weight("weight_ih_l0"), weight("bias_ih_l0"))
            v = gru_cell(from_input, from_state[:, : 3 * H], v)
            return (v,), (v, a.squeeze(1))

        by_token = (
            passage,
            F.linear(passage, weight("attention_passage")),
            F.linear(passage, by_passage),
        )
        initial = passage.new_zeros(passage.size(0), H)
        _, outputs = scan(step, (initial,), [x.transpose(0, 1) for x in by_token])
        return [x.transpose(0, 1) for x in outputs]
