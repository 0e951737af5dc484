r"""The steps of the LSTMN in operations of torch, in place and on adjacent rows.

Both tapes and the keys are tables with a row for every step; a step uses a prefix of the rows. The
backward pass accumulates the gradients of tapes and keys in such tables, whose rows are complete
when their step is reached. The hidden layer of the attention has T^2 / 2 vectors, so it is
recomputed and not saved.
"""

import math
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.packing import steps
from allennlp_sentmatch.nn.ops.lstmn.tables import (
    EagerTapes,
    LSTMNGradients,
    LSTMNOutputGradients,
    LSTMNTables,
)
from allennlp_sentmatch.nn.ops.lstmn.weights import LSTMNWeights, from_summary_and_hidden


def forward(
    backend: Backend,
    sizes: list[int],
    weights: LSTMNWeights,
    gates: Tensor,
    queries: Tensor,
    initial: Optional[Tensor],
) -> tuple[LSTMNTables, EagerTapes]:
    """Run the steps.

    # Parameters

    backend : `Backend`
    sizes : `list[int]`
        The number of sentences at each step.
    weights : `LSTMNWeights`
        The weights of S directions, stacked.
    gates : `Tensor`
        Shape (S, N, 4H): W x + b. The gates overwrite it.
    queries : `Tensor`
        Shape (S, N, A): 2 W_x x_t. The queries overwrite it.
    initial : `Optional[Tensor]`
        Shape (2, S, B, H): h~ and c~ at the first step.
    """
    S, N, A = queries.shape
    B, T, H = sizes[0], len(sizes), gates.size(-1) // 4
    linear = backend.products.linear
    weight_summary, weight_key = from_summary_and_hidden(weights)
    vector = 2 * weights.attention_vector.unsqueeze(2)  # (S, A, 1)
    summary = gates.new_empty(2, S, N, H)
    tapes = EagerTapes(gates.new_empty(S, T, B, A), gates.new_empty(2, S, T, B, H))
    keys, states = tapes
    attention = gates.new_zeros(S, T, T, B)
    from_summary = gates.new_empty(S, B, 4 * H + A)
    buffer = gates.new_empty(S * T * B * max(A, 2 * H))
    gates_at, summary_at, queries_at = (steps(x, sizes) for x in (gates, summary, queries))
    for t, n in enumerate(sizes):
        summaries = summary_at[t]  # (2, S, n, H)
        if t > 0:
            query = queries_at[t]  # (S, n, A)
            if t > 1:  # at t = 1 there is a single token, whose weight is 1
                query.add_(from_summary[:, :n, 4 * H :])
            hidden_layer = _view(buffer, S, t, n, A)
            torch.add(keys[:, :t, :n], query.unsqueeze(1), out=hidden_layer).sigmoid_()
            scores = torch.bmm(hidden_layer.view(S, t * n, A), vector).view(S, t, n)
            s = scores.softmax(1)
            attention[:, t, :t, :n] = s
            weighted = _view(buffer, 2, S, t, n, H)
            torch.mul(states[:, :, :t, :n], s.unsqueeze(3), out=weighted)
            torch.sum(weighted, 2, out=summaries)
        elif initial is not None:
            summaries.copy_(initial)
        else:
            summaries.zero_()
        if t > 0 or initial is not None:
            for direction in range(S):
                projected = linear(summaries[0, direction], weight_summary[direction])
                gates_at[t][direction].add_(projected[:, : 4 * H])
                from_summary[direction, :n, 4 * H :] = projected[:, 4 * H :]
        _cell(backend, gates_at[t], summaries[1], states[:, :, t, :n])
        if t + 1 < T:
            following = sizes[t + 1]
            for direction in range(S):
                hidden = states[0, direction, t, :following]
                keys[direction, t, :following] = linear(hidden, weight_key[direction])
    hidden, cell = torch.cat([states[:, :, t, :n] for t, n in enumerate(sizes)], 2)
    attention = attention.permute(0, 3, 1, 2)  # (S, B, T, T)
    return LSTMNTables(gates, queries, hidden, cell, attention, summary), tapes


def _cell(backend: Backend, gates: Tensor, summary_cell: Tensor, states: Tensor) -> None:
    """Overwrite the gates' arguments with the gates, (S, n, 4H), and write h and c to `states`."""
    i, f, g, o = gates.chunk(4, -1)
    g.mul_(2)
    gates.sigmoid_()
    g.mul_(2).sub_(1)  # tanh(x) = 2 sigmoid(2x) - 1
    h, c = states
    torch.mul(i, g, out=c)
    c.addcmul_(f, summary_cell)
    torch.mul(o, backend.tanh(c), out=h)


def _view(buffer: Tensor, *shape: int) -> Tensor:
    """Return the beginning of `buffer` in this shape."""
    return buffer[: math.prod(shape)].view(shape)


def backward(
    backend: Backend,
    sizes: list[int],
    weights: LSTMNWeights,
    tables: LSTMNTables,
    tapes: tuple[Tensor, Tensor],
    outer: LSTMNOutputGradients,
) -> LSTMNGradients:
    """Run the steps' backward pass; the gradients of the gates' arguments overwrite the gates.

    `tapes` are those of `forward`.
    """
    return _Backward(backend, sizes, weights, tables, EagerTapes(*tapes), outer).run()


class _Backward:
    """The tables of a backward pass, through which it goes from the last step to the first."""

    def __init__(
        self,
        backend: Backend,
        sizes: list[int],
        weights: LSTMNWeights,
        tables: LSTMNTables,
        tapes: EagerTapes,
        outer: LSTMNOutputGradients,
    ) -> None:
        S, N, A = tables.queries.shape
        B, T, H = sizes[0], len(sizes), tables.hidden.size(-1)
        self.sizes, self.weights, self.tables = sizes, weights, tables
        self.attention = tables.attention.permute(0, 2, 3, 1)  # (S, T, T, B)
        self.tapes = tapes
        self.grad_attention = (
            None if outer.attention is None else outer.attention.permute(0, 2, 3, 1)
        )
        self.cell_by_hidden, self.cell_by_summary = _differentiate_gates(backend, tables)
        self.linear = backend.products.linear
        self.grad_queries = torch.empty_like(tables.queries)
        self.grad_queries[:, :B] = 0  # the first step attends to nothing
        self.grad_keys = torch.empty_like(tables.queries)
        self.grad_keys[:, N - sizes[-1] :] = 0  # nothing attends to the last step
        self.grad_key_table = torch.zeros_like(tapes.keys)  # divided by 4 v
        self.grad_tapes = torch.zeros_like(tapes.states)
        for grad, tape in zip((outer.hidden, outer.cell), self.grad_tapes):
            if grad is not None:
                for t, rows in enumerate(steps(grad, sizes)):
                    tape[:, t, : sizes[t]] = rows
        self.grad_vector = torch.zeros_like(weights.attention_vector)
        self.buffer = tables.gates.new_empty(S * T * B * max(A, 2 * H))
        self.scale = 4 * weights.attention_vector.unsqueeze(1)  # (S, 1, A)
        self.gates_at, self.queries_at = steps(tables.gates, sizes), steps(tables.queries, sizes)
        self.grad_queries_at = steps(self.grad_queries, sizes)
        self.grad_keys_at = steps(self.grad_keys, sizes)

    def run(self) -> LSTMNGradients:
        cell_by_hidden_at = steps(self.cell_by_hidden, self.sizes)
        cell_by_summary_at = steps(self.cell_by_summary, self.sizes)
        for t in range(len(self.sizes) - 1, -1, -1):
            grad_summary = self._through_cell(t, cell_by_hidden_at[t], cell_by_summary_at[t])
            if t > 0:
                self._through_attention(t, grad_summary)
        return LSTMNGradients(
            self.tables.gates, self.grad_queries, self.grad_keys, self.grad_vector, grad_summary
        )

    def _through_cell(self, t: int, cell_by_hidden: Tensor, cell_by_summary: Tensor) -> Tensor:
        """Write the gradients of the gates' arguments; return those of h~ and c~, (2, S, n, H)."""
        n, gates = self.sizes[t], self.gates_at[t]  # (S, n, 4H)
        S, H = gates.size(0), gates.size(2) // 4
        following = self.sizes[t + 1] if t + 1 < len(self.sizes) else 0  # sentences
        dh, dc = self.grad_tapes[:, :, t, :n]
        if following:
            dk = torch.mul(self.grad_key_table[:, t, :n], self.scale, out=self.grad_keys_at[t])
            for direction, weight in enumerate(self.weights.attention_hidden):
                dh[direction, :following].add_(self.linear(dk[direction, :following], weight.t()))
        dc.addcmul_(dh, cell_by_hidden)
        blocks = gates.view(S, n, 4, H)
        blocks[:, :, :3].mul_(dc.unsqueeze(2))
        blocks[:, :, 3].mul_(dh)
        grad_summary = gates.new_empty(2, S, n, H)
        for direction, grad in enumerate(grad_summary[0]):
            grad.copy_(self.linear(gates[direction], self.weights.weight_hh_l0[direction].t()))
            if following:
                dq = self.grad_queries_at[t + 1][direction]  # (following, A)
                weight = self.weights.attention_previous[direction]
                grad[:following].add_(self.linear(dq, weight.t()))
        torch.mul(dc, cell_by_summary, out=grad_summary[1])
        return grad_summary

    def _through_attention(self, t: int, grad_summary: Tensor) -> None:
        """Add to the gradients of the tapes, the keys and v; write those of the queries."""
        S, A = self.grad_queries.size(0), self.grad_queries.size(2)
        n, H = self.sizes[t], grad_summary.size(-1)
        # Through the weighted sums and the softmax to the scores.
        s, upstream = self.attention[:, t, :t, :n], grad_summary.unsqueeze(2)
        weighted = _view(self.buffer, 2, S, t, n, H)
        torch.mul(self.tapes.states[:, :, :t, :n], upstream, out=weighted)
        grad_s = weighted.sum((0, 4))  # (S, t, n)
        if self.grad_attention is not None:
            grad_s.add_(self.grad_attention[:, t, :t, :n])
        self.grad_tapes[:, :, :t, :n].addcmul_(s.unsqueeze(3), upstream)
        grad_scores = s * grad_s
        grad_scores.addcmul_(s, grad_scores.sum(1, keepdim=True), value=-1)
        # Through the hidden layer to v, the keys and the query.
        layer = _view(self.buffer, S, t, n, A)
        query = self.queries_at[t].unsqueeze(1)  # (S, 1, n, A)
        torch.add(self.tapes.keys[:, :t, :n], query, out=layer).sigmoid_()
        flat = grad_scores.view(S, 1, t * n)
        self.grad_vector.add_(torch.bmm(flat, layer.view(S, t * n, A)).squeeze(1), alpha=2)
        layer.addcmul_(layer, layer, value=-1).mul_(grad_scores.unsqueeze(3))
        self.grad_key_table[:, :t, :n].add_(layer)
        torch.mul(layer.sum(1), self.scale, out=self.grad_queries_at[t])


def _differentiate_gates(backend: Backend, tables: LSTMNTables) -> tuple[Tensor, Tensor]:
    """Overwrite each gate with a derivative by its argument: of h for o, of c for the others.

    Times the gradient of h or c, it is the gradient of the argument. Returns the factor from the
    gradient of h to that of c, and the derivative of c by c~, each (S, N, H).
    """
    i, f, g, o = tables.gates.chunk(4, -1)
    # Not contiguous(), which does not copy the gate of a single token.
    cell_by_summary = f.clone(memory_format=torch.contiguous_format)
    tanh_cell = backend.tanh(tables.cell)
    cell_by_hidden = torch.addcmul(o, tables.hidden, tanh_cell, value=-1)  # o * (1 - tanh(c)^2)
    new_cell = torch.mul(i, g, out=tanh_cell)
    torch.addcmul(i, new_cell, g, value=-1, out=g)  # i * (1 - g * g)
    torch.addcmul(new_cell, new_cell, i, value=-1, out=i)  # i * (1 - i) * g
    f.addcmul_(f, f, value=-1).mul_(tables.summary[1])
    torch.addcmul(tables.hidden, tables.hidden, o, value=-1, out=o)  # o * (1 - o) * tanh(c)
    return cell_by_hidden, cell_by_summary
