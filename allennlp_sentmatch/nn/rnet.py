r"""The layers of R-NET.

Wang et al., "Gated Self-Matching Networks for Reading Comprehension and Question Answering" (ACL
2017). The paper uses the same letters for different parameters in several layers. With
u^Q_1, ..., u^Q_M and u^P_1, ..., u^P_T the encoded tokens of the question and the passage:

`GatedMatching` (section 3.2) reads the passage with attention to the question, in both directions
(section 4.1), from v^P_0 = 0:

    s_j = v^T tanh(W_u^Q u^Q_j + W_u^P u^P_t + W_v^P v^P_{t-1})          (4)
    a = softmax(s),   c_t = sum_j a_j u^Q_j
    g_t = sigmoid(W_g [u^P_t; c_t])                                      (6)
    v^P_t = GRU(v^P_{t-1}, g_t * [u^P_t; c_t])                           (5)

`GatedSelfMatching` (section 3.3) reads the result with attention to all of itself, which does not
depend on the GRU's states: it is the same in both directions and computed for all t at once.

    s_j = v^T tanh(W_v^P v^P_j + W_v^P~ v^P_t)                           (8)
    a = softmax(s),   c_t = sum_j a_j v^P_j
    g_t = sigmoid(W_g [v^P_t; c_t])
    h^P_t = BiGRU(h^P_{t-1}, g_t * [v^P_t; c_t])                         (7)

`PointerNetwork` (section 3.4, after Vinyals et al. 2015) selects the first and the last token of
the answer, at step 1 and 2 from h^a_0 = r^Q. `QuestionPooling` computes r^Q by a parameter V_r^Q:

    s_j = v^T tanh(W_h^P h^P_j + W_h^a h^a_{t-1}),   p^t = softmax(s)    (9)
    c_t = sum_j p^t_j h^P_j,   h^a_t = GRU(h^a_{t-1}, c_t)               (10)

    s_j = v^T tanh(W_u^Q u^Q_j + W_v^Q V_r^Q)                            (11)
    a = softmax(s),   r^Q = sum_j a_j u^Q_j
"""

from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.additive_scores import additive_scores
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.configured_module import (
    ConfiguredModule,
    RecurrentModule,
    uniform_parameter,
)
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast
from allennlp_sentmatch.nn.ops.common.cells import gru_cell
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.packing import in_order
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan
from allennlp_sentmatch.nn.padding import check_padded, clear_padding, mask_of
from allennlp_sentmatch.nn.pooling import additive_attention
from allennlp_sentmatch.nn.recurrent_networks import run_networks


class GatedMatching(RecurrentModule):
    """Gated attention-based matching (equations 4-6 of the module's docstring).

    Its parameters are `attention_question` (H, Q), `attention_passage` (H, P),
    `attention_previous` (H, H) and `attention_vector` (H), the paper's W_u^Q, W_u^P, W_v^P and v;
    `gate` (P + Q, P + Q), W_g; and `weight_ih_l0` (3H, P + Q), `weight_hh_l0` (3H, H),
    `bias_ih_l0` (3H) and `bias_hh_l0` (3H), as in `torch.nn.GRU`. The parameters of the
    second direction have the suffix `_reverse`.

    P is `passage_size` and Q `question_size`, the sizes of a token's vector. H, `hidden_size`, is
    the size of the state in each direction and of the attention's hidden layer.
    """

    bidirectional = True
    gate: Tensor

    def __init__(
        self,
        passage_size: int,
        question_size: int,
        hidden_size: int,
    ) -> None:
        super().__init__()
        P = passage_size
        Q = question_size
        H = hidden_size
        check_positive(passage_size=P, question_size=Q, hidden_size=H)
        self.passage_size = passage_size
        self.question_size = question_size
        self.hidden_size = hidden_size
        for suffix in self._suffixes:
            shapes = {
                "attention_question": (H, Q),
                "attention_passage": (H, P),
                "attention_previous": (H, H),
                "attention_vector": (H,),
                "gate": (P + Q, P + Q),
            }
            for name, shape in shapes.items():
                self.register_parameter(name + suffix, uniform_parameter(*shape))
            for name, parameter in torch.nn.GRU(P + Q, H).named_parameters():
                self.register_parameter(name + suffix, parameter)

    def forward(
        self,
        passage: Tensor,
        passage_mask: Optional[Tensor],
        question: Tensor,
        question_mask: Optional[Tensor],
    ) -> tuple[Tensor, list[Tensor]]:
        """Match B passages (B, T, P) with their questions (B, M, Q).

        Return v^P, (B, T, output_size), zero at padding; and a for each direction, (B, T, M), in
        the passage's order and zero at padding. With an empty question, c_t is zero.
        """
        dtype = self.gate.dtype
        passage, passage_mask = check_padded(
            passage, passage_mask, self.passage_size, dtype, ("passage", "passage_mask")
        )
        question, question_mask = check_padded(
            question, question_mask, self.question_size, dtype, ("question", "question_mask")
        )
        if passage.size(0) != question.size(0):
            raise ValueError(
                "passage and question must have the same batch size, "
                f"got {passage.size(0)} and {question.size(0)}"
            )
        passage = clear_padding(passage, passage_mask)
        question = clear_padding(question, question_mask)
        with without_autocast(passage.device):
            states, attention = self._directions(passage, passage_mask, question, question_mask)
        is_padding = ~(passage_mask.unsqueeze(2) & question_mask.unsqueeze(1))  # (B, T, M)
        in_order_of_passage = []
        weights = []
        for s in range(len(self._suffixes)):
            in_order_of_passage.append(in_order(states[s], passage_mask, s))
            of_direction = in_order(attention[s], passage_mask, s)
            weights.append(of_direction.masked_fill(is_padding, 0.0))
        matched = torch.cat(in_order_of_passage, -1)
        return clear_padding(matched, passage_mask), weights

    def _directions(
        self,
        passage: Tensor,
        passage_mask: Tensor,
        question: Tensor,
        question_mask: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Return the states (S, B, T, H) and the attention (S, B, T, M) of S directions.

        As tanh(x) = 2 sigmoid(2x) - 1 and a softmax is invariant to a constant added to all scores,
        the scores are 2 v . sigmoid(2 (keys + query)), which a CPU computes faster.
        """
        P = self.passage_size
        Q = self.question_size
        H = self.hidden_size
        S = len(self._suffixes)
        B = passage.size(0)
        passages = torch.stack([in_order(passage, passage_mask, s) for s in range(S)])
        tokens = passages.permute(2, 0, 1, 3)  # (T, S, B, P)
        values = question.repeat(S, 1, 1)  # (S * B, M, Q)
        questions = question.expand(S, -1, -1, -1)
        keys = _linear(questions, 2 * self._stacked("attention_question"))  # (M, S, B, H)
        keys = keys.permute(1, 2, 0, 3).contiguous()  # (S, B, M, H)
        queries = _linear(passages, 2 * self._stacked("attention_passage"))  # (T, S, B, H)
        vector = 2 * self._stacked("attention_vector").unsqueeze(2)  # (S, H, 1)
        padding = ~question_mask
        lowest = torch.finfo(passage.dtype).min
        by_passage, by_context = self._stacked("gate").split([P, Q], 2)
        gates = _linear(passages, by_passage)  # (T, S, B, P + Q)
        # The map from the state to r, z and n, and to its part of the query.
        to_query = 2 * self._stacked("attention_previous")
        from_state = torch.cat([self._stacked("weight_hh_l0"), to_query], 1)
        state_weight = from_state.transpose(1, 2)  # (S, H, 4H)
        state_bias = F.pad(self._stacked("bias_hh_l0"), (0, H))
        state_bias = state_bias.unsqueeze(1)  # (S, 1, 4H)
        context_weight = by_context.transpose(1, 2)
        input_weight = self._stacked("weight_ih_l0").transpose(1, 2)
        input_bias = self._stacked("bias_ih_l0").unsqueeze(1)

        def step(state: Tensors, at_step: Tensors) -> StepResult:
            (v,) = state  # (S, B, H)
            u, query, gate = at_step  # (S, B, P), (S, B, H), (S, B, P + Q)
            products = torch.baddbmm(state_bias, v, state_weight)  # (S, B, 4H)
            from_state, part = products.split([3 * H, H], 2)
            whole_query = (query + part).unsqueeze(2)
            layer = torch.sigmoid(keys + whole_query)  # (S, B, M, H)
            scores = layer.flatten(1, 2).bmm(vector).view(layer.shape[:3])  # (S, B, M)
            a = scores.masked_fill(padding, lowest).softmax(2)
            rows = a.flatten(0, 1).unsqueeze(1)  # (S * B, 1, M)
            c = rows.bmm(values).view(S, -1, Q)
            g = torch.sigmoid(torch.baddbmm(gate, c, context_weight))
            x = g * torch.cat([u, c], 2)
            from_input = torch.baddbmm(input_bias, x, input_weight)  # (S, B, 3H)
            v = gru_cell(from_input, from_state, v)
            return (v,), (v, a)

        initial = passage.new_zeros(S, B, H)
        _, (states, attention) = scan(step, (initial,), [tokens, queries, gates])
        return states.permute(1, 2, 0, 3), attention.permute(1, 2, 0, 3)

    def _stacked(self, name: str) -> Tensor:
        """Return a parameter of all S directions, (S, ...)."""
        return torch.stack([getattr(self, name + suffix) for suffix in self._suffixes])


def _linear(sentences: Tensor, weight: Tensor) -> Tensor:
    """Map the tokens of each direction, (S, B, N, K) by (S, K', K), to (N, S, B, K')."""
    by_direction = [F.linear(x.transpose(0, 1), w) for x, w in zip(sentences, weight)]
    return torch.stack(by_direction, 1)


class GatedSelfMatching(RecurrentModule):
    """Gated self-matching (equations 7 and 8 of the module's docstring).

    Its parameters are `attention_key` (H, D), `attention_query` (H, D) and `attention_vector` (H),
    the paper's W_v^P, W_v^P~ and v; and `gate` (2D, 2D), W_g. `gru` is a `torch.nn.GRU`.

    D is `input_size`, the size of a token's vector. H, `hidden_size`, is the size of the state in
    each direction and of the attention's hidden layer.
    """

    bidirectional = True

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        D = input_size
        check_positive(input_size=D, hidden_size=hidden_size)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.attention_key = uniform_parameter(hidden_size, D)
        self.attention_query = uniform_parameter(hidden_size, D)
        self.attention_vector = uniform_parameter(hidden_size)
        self.gate = uniform_parameter(2 * D, 2 * D)
        self.gru = torch.nn.GRU(2 * D, hidden_size, batch_first=True, bidirectional=True)

    def forward(self, passage: Tensor, mask: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
        """Match B passages (B, T, D) with themselves.

        Return h^P, (B, T, output_size), and a, (B, T, T), with a row for each t. Both are zero at
        padding.
        """
        dtype = self.gate.dtype
        passage, full_mask = check_padded(
            passage, mask, self.input_size, dtype, ("passage", "mask")
        )
        passage = clear_padding(passage, full_mask)
        keys = F.linear(passage, self.attention_key).to(dtype)  # (B, T, H)
        queries = F.linear(passage, self.attention_query).to(dtype)  # (B, T, H)
        scores = additive_scores(queries, keys, self.attention_vector)  # (B, T, T)
        are_tokens = full_mask.unsqueeze(2) & full_mask.unsqueeze(1)  # (B, T, T)
        attention = masked_softmax(scores.to(dtype), are_tokens)
        context = attention.bmm(passage).to(dtype)  # (B, T, D)
        inputs = torch.cat([passage, context], -1)  # (B, T, 2D)
        gate = torch.sigmoid(F.linear(inputs, self.gate)).to(dtype)  # (B, T, 2D)
        (states,) = run_networks([self.gru], gate * inputs, mask)
        return states, attention


class PointerNetwork(ConfiguredModule):
    """A pointer network of two steps (equations 9 and 10 of the module's docstring).

    Its parameters are `attention_passage` (A, P), `attention_previous` (A, Q) and
    `attention_vector` (A), the paper's W_h^P, W_h^a and v. `gru` is a `torch.nn.GRUCell`.

    P is `passage_size`, the size of a passage token's vector, and Q is `question_size`, the size of
    the question's vector and of the state. A, `attention_size`, is the size of the attention's
    hidden layer.
    """

    def __init__(
        self,
        passage_size: int,
        question_size: int,
        attention_size: int,
    ) -> None:
        super().__init__()
        check_positive(
            passage_size=passage_size,
            question_size=question_size,
            attention_size=attention_size,
        )
        self.passage_size = passage_size
        self.question_size = question_size
        self.attention_size = attention_size
        self.attention_passage = uniform_parameter(attention_size, passage_size)
        self.attention_previous = uniform_parameter(attention_size, question_size)
        self.attention_vector = uniform_parameter(attention_size)
        self.gru = torch.nn.GRUCell(passage_size, question_size)

    def forward(
        self,
        passage: Tensor,
        mask: Optional[Tensor],
        question: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Score the tokens of B passages (B, T, P) from their questions' vectors r^Q, (B, Q).

        Return the scores s of the start and of the end, (B, T) each, without meaning at padding.
        """
        mask = mask_of(passage, mask)
        passage = cast_to_parameter(passage, self.attention_vector)
        question = cast_to_parameter(question, self.attention_vector)
        passage = clear_padding(passage, mask)
        keys = F.linear(passage, self.attention_passage)  # (B, T, A)
        start = self._scores(keys, question)
        weights = masked_softmax(start, mask)  # (B, T)
        context = weights.unsqueeze(1).bmm(passage).squeeze(1)  # (B, P)
        # Not every torch can run its GRUCell under autocast on the CPU.
        with without_autocast(passage.device):
            state = self.gru(context.to(passage.dtype), question)  # (B, Q)
        return start, self._scores(keys, state)

    def _scores(self, keys: Tensor, state: Tensor) -> Tensor:
        """Return the scores (B, T) of keys (B, T, A) for the state h^a (B, Q)."""
        query = F.linear(state, self.attention_previous)  # (B, A)
        hidden_layer = torch.tanh(keys + query.unsqueeze(1))  # (B, T, A)
        return (hidden_layer @ self.attention_vector).to(state.dtype)


class QuestionPooling(ConfiguredModule):
    """Attention pooling (equation 11 of the module's docstring).

    Its parameters are `attention_question` (A, Q), `attention_query` (A, A), `attention_vector` (A)
    and `query` (A), the paper's W_u^Q, W_v^Q, v and V_r^Q.

    Q is `question_size`, the size of a token's vector, and A `attention_size`, the size of the
    attention's hidden layer.
    """

    def __init__(self, question_size: int, attention_size: int) -> None:
        super().__init__()
        A = attention_size
        check_positive(question_size=question_size, attention_size=A)
        self.question_size = question_size
        self.attention_size = A
        self.attention_question = uniform_parameter(A, question_size)
        self.attention_query = uniform_parameter(A, A)
        self.attention_vector = uniform_parameter(A)
        self.query = uniform_parameter(A)

    def forward(self, question: Tensor, mask: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
        """Pool B questions (B, M, Q) with the mask (B, M).

        Return r^Q, (B, Q), zero for an empty question; and a, (B, M), zero at padding.
        """
        mask = mask_of(question, mask)
        question = clear_padding(cast_to_parameter(question, self.query), mask)
        keys = F.linear(question, self.attention_question)  # (B, M, A)
        keys = keys + self.attention_query @ self.query
        return additive_attention(keys, self.attention_vector, question, mask)
