r"""The steps of the LSTMN as operations of torch's, in place and on rows side by side.

Both tapes, and the keys, are tables of all steps that a step reads a prefix of. In the backward
pass the gradients of tapes and keys gather in such tables, complete when a step is reached. The
hidden layer of the attention, T^2 / 2 vectors, is not kept but computed anew.
"""

import math
from typing import NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.activations import tanh
from allennlp_sentmatch.nn.ops.common.packing import steps
from allennlp_sentmatch.nn.ops.common.products import product


class Weights(NamedTuple):
    """The parameters of one direction, by the names that `LSTMN` has for them; or of S, stacked."""

    weight_ih_l0: Tensor
    weight_hh_l0: Tensor
    bias_l0: Tensor
    attention_hidden: Tensor
    attention_input: Tensor
    attention_previous: Tensor
    attention_vector: Tensor


class Reading(NamedTuple):
    """What `read_steps` makes, and `read_back` needs."""

    hidden: Tensor  # (S, N, H)
    cell: Tensor  # (S, N, H)
    attention: Tensor  # (S, B, T, T)
    summary: Tensor  # (2, S, N, H): h~ and c~
    keys: Tensor  # twice W_h h: (S, T, B, A) here, (S, N, A) in `cpu`
    tapes: Tensor  # h and c: (2, S, T, B, H) here, (2, S, N, H) in `cpu`


class Gradients(NamedTuple):
    """What `read_back` makes besides the gradients of the gates' arguments."""

    queries: Tensor  # (S, N, A): of W_x x_t + W_h~ h~_{t-1}
    keys: Tensor  # (S, N, A): of W_h h_t
    vector: Tensor  # (S, A)
    initial: Tensor  # (2, S, B, H): of h~ and c~ of the first step


def read_steps(
    sizes: list[int],
    weights: Weights,
    gates: Tensor,
    queries: Tensor,
    initial: Optional[Tensor],
) -> Reading:
    """Make of the gates' arguments, aside from what comes from h~, the gates, and of them h and c.

    # Parameters

    sizes : `List[int]`
        The packing's.
    weights : `Weights`
        Of S directions, stacked.
    gates : `Tensor`
        Shape (S, N, 4H): W x + b, to be replaced by [i; f; g; o].
    queries : `Tensor`
        Shape (S, N, A): twice W_x x_t, to be made twice W_x x_t + W_h~ h~_{t-1}.
    initial : `Optional[Tensor]`
        Shape (2, S, B, H): h~ and c~ of the first step.
    """
    S, N, A = queries.shape
    B, T, H = sizes[0], len(sizes), gates.size(-1) // 4
    weight_summary, weight_key = from_summary_and_hidden(weights)
    vector = 2 * weights.attention_vector.unsqueeze(2)  # (S, A, 1)
    summary = gates.new_empty(2, S, N, H)
    tapes = gates.new_empty(2, S, T, B, H)
    keys = gates.new_empty(S, T, B, A)
    attention = gates.new_zeros(S, T, T, B)
    from_summary = gates.new_empty(S, B, 4 * H + A)
    room = gates.new_empty(S * T * B * max(A, 2 * H))
    gates_at, summary_at, queries_at = (steps(x, sizes) for x in (gates, summary, queries))
    for t, n in enumerate(sizes):
        a, summaries = gates_at[t], summary_at[t]  # (S, n, 4H), (2, S, n, H)
        if t > 0:
            query = queries_at[t]  # (S, n, A)
            if t > 1 or initial is not None:
                query.add_(from_summary[:, :n, 4 * H :])
            hidden_layer = _room(room, S, t, n, A)
            torch.add(keys[:, :t, :n], query.unsqueeze(1), out=hidden_layer).sigmoid_()
            scores = torch.bmm(hidden_layer.view(S, t * n, A), vector).view(S, t, n)
            s = scores.softmax(1)
            attention[:, t, :t, :n] = s
            weighted = _room(room, 2, S, t, n, H)
            torch.mul(tapes[:, :, :t, :n], s.unsqueeze(3), out=weighted)
            torch.sum(weighted, 2, out=summaries)
        elif initial is not None:
            summaries.copy_(initial)
        else:
            summaries.zero_()
        if t > 0 or initial is not None:
            for direction in range(S):
                projected = product(summaries[0, direction], weight_summary[direction])
                a[direction].add_(projected[:, : 4 * H])
                from_summary[direction, :n, 4 * H :] = projected[:, 4 * H :]
        i, f, g, o = a.chunk(4, -1)
        g.mul_(2)
        a.sigmoid_()
        g.mul_(2).sub_(1)  # tanh(x) = 2 sigmoid(2x) - 1
        h, c = tapes[:, :, t, :n]
        torch.mul(i, g, out=c)
        c.addcmul_(f, summaries[1])
        torch.mul(o, tanh(c), out=h)
        if t + 1 < T:
            for direction in range(S):
                keys[direction, t, :n] = product(h[direction], weight_key[direction])
    hidden, cell = torch.cat([tapes[:, :, t, :n] for t, n in enumerate(sizes)], 2)
    return Reading(hidden, cell, attention.permute(0, 3, 1, 2), summary, keys, tapes)


def from_summary_and_hidden(weights: Weights) -> tuple[Tensor, Tensor]:
    """What maps h~ to the gates' arguments and the next query (S, 4H + A, H), and h to its key.

    Queries and keys are to be twice what they are in the equation.
    """
    to_query = 2 * weights.attention_previous
    return torch.cat([weights.weight_hh_l0, to_query], 1), 2 * weights.attention_hidden


def _room(room: Tensor, *shape: int) -> Tensor:
    """The beginning of the scratch memory `room`, in this shape."""
    return room[: math.prod(shape)].view(shape)


def read_back(
    sizes: list[int],
    weights: Weights,
    gates: Tensor,
    queries: Tensor,
    reading: Reading,
    gradients: tuple[Optional[Tensor], ...],
) -> Gradients:
    """Make of the gates the gradients of their arguments.

    # Parameters

    sizes, weights
        As in `read_steps`.
    gates, queries : `Tensor`
        What it has made of them. The gates are replaced.
    reading : `Reading`
        What it returned.
    gradients : `Tuple[Optional[Tensor], ...]`
        Of h, c and the attention, from outside.
    """
    hidden, cell, attention, summary, keys, tapes = reading
    S, N, A = queries.shape
    B, T, H = sizes[0], len(sizes), gates.size(-1) // 4
    last = sizes[-1]
    attention = attention.permute(0, 2, 3, 1)  # (S, T, T, B)
    grad_attention = None if gradients[2] is None else gradients[2].permute(0, 2, 3, 1)

    # Each gate becomes the derivative of c by its argument (of h, for o). Times the gradient of
    # c (of h), that becomes the gradient of the argument.
    i, f, g, o = gates.chunk(4, -1)
    by_summary_cell = f.contiguous()  # of c, by c~
    tanh_cell = tanh(cell)
    by_cell = torch.addcmul(o, hidden, tanh_cell, value=-1)  # of h: o * (1 - tanh(c)^2)
    new_cell = torch.mul(i, g, out=tanh_cell)
    torch.addcmul(i, new_cell, g, value=-1, out=g)  # i * (1 - g * g)
    torch.addcmul(new_cell, new_cell, i, value=-1, out=i)  # i * (1 - i) * g
    f.addcmul_(f, f, value=-1).mul_(summary[1])
    torch.addcmul(hidden, hidden, o, value=-1, out=o)  # o * (1 - o) * tanh(c)

    grad_queries = torch.empty_like(queries)
    grad_queries[:, :B] = 0  # the first step's, which attends to nothing
    grad_keys = torch.empty_like(queries)
    grad_keys[:, N - last :] = 0  # the last step's, which nothing attends to
    grad_key_table = torch.zeros_like(keys)  # divided by 4 v
    grad_tapes = torch.zeros_like(tapes)
    grad_vector = torch.zeros_like(weights.attention_vector)
    for outer, tape in zip(gradients, grad_tapes):
        if outer is not None:
            for t, rows in enumerate(steps(outer, sizes)):
                tape[:, t, : sizes[t]] = rows
    room = gates.new_empty(S * T * B * max(A, 2 * H))
    gates_t, query_t, key_t = (  # (S, H, 4H), (S, H, A), (S, H, A)
        weight.transpose(1, 2)
        for weight in (weights.weight_hh_l0, weights.attention_previous, weights.attention_hidden)
    )
    scale = 4 * weights.attention_vector.unsqueeze(1)  # (S, 1, A)
    grad_gates_at, queries_at, grad_queries_at, grad_keys_at, by_cell_at, by_summary_cell_at = (
        steps(x, sizes) for x in (gates, queries, grad_queries, grad_keys, by_cell, by_summary_cell)
    )
    after = 0  # the sentences that go on
    for t in range(T - 1, -1, -1):
        n, a = sizes[t], grad_gates_at[t]  # (S, n, 4H)
        dh, dc = grad_tapes[:, :, t, :n]
        if after:
            dk = torch.mul(grad_key_table[:, t, :n], scale, out=grad_keys_at[t])
            for direction in range(S):
                dh[direction, :after].add_(product(dk[direction, :after], key_t[direction]))
        dc.addcmul_(dh, by_cell_at[t])
        blocks = a.view(S, n, 4, H)
        blocks[:, :, :3].mul_(dc.unsqueeze(2))
        blocks[:, :, 3].mul_(dh)
        grad_summary = gates.new_empty(2, S, n, H)
        for direction, grad in enumerate(grad_summary[0]):
            grad.copy_(product(a[direction], gates_t[direction]))
            if after:
                dq = grad_queries_at[t + 1][direction]  # (after, A)
                grad[:after].add_(product(dq, query_t[direction]))
        torch.mul(dc, by_summary_cell_at[t], out=grad_summary[1])
        after = n
        if t == 0:
            break
        # The summary's way back onto the tapes, and by the weights' softmax to the scores.
        s, upstream = attention[:, t, :t, :n], grad_summary.unsqueeze(2)
        weighted = torch.mul(tapes[:, :, :t, :n], upstream, out=_room(room, 2, S, t, n, H))
        grad_s = weighted.sum((0, 4))  # (S, t, n)
        if grad_attention is not None:
            grad_s.add_(grad_attention[:, t, :t, :n])
        grad_tapes[:, :, :t, :n].addcmul_(s.unsqueeze(3), upstream)
        grad_scores = s * grad_s
        grad_scores.addcmul_(s, grad_scores.sum(1, keepdim=True), value=-1)
        # The hidden layer's, and by it the vector's, keys' and query's.
        layer = _room(room, S, t, n, A)
        torch.add(keys[:, :t, :n], queries_at[t].unsqueeze(1), out=layer).sigmoid_()
        flat = grad_scores.view(S, 1, t * n)
        grad_vector.add_(torch.bmm(flat, layer.view(S, t * n, A)).squeeze(1), alpha=2)
        layer.addcmul_(layer, layer, value=-1).mul_(grad_scores.unsqueeze(3))
        grad_key_table[:, :t, :n].add_(layer)
        torch.mul(layer.sum(1), scale, out=grad_queries_at[t])
    return Gradients(grad_queries, grad_keys, grad_vector, grad_summary)
