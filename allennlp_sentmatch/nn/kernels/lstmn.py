r"""The LSTMN's recurrence over packed sentences, with an analytic backward pass.

A token's key W_h h_i is projected once, when its state goes on the tapes; both tapes, and the keys,
are tables of all steps that a step reads a prefix of. One product of h~ serves the gates of its own
step and the attention of the next. As tanh(x) = 2 sigmoid(2x) - 1 and as a softmax does not depend
on what is added to all scores, the scores are computed as

    a_i = 2 v . sigmoid(2 W_h h_i + 2 (W_x x_t + W_h~ h~_{t-1}))

The hidden layer of the attention, T^2 / 2 vectors, is not kept but computed anew in the backward
pass, which otherwise mirrors the forward pass: the gradients of tapes and keys gather in tables,
complete when a step is reached, and the weights' gradients are one product each over all steps.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.kernels.linear import linear, weight_gradient
from allennlp_sentmatch.nn.kernels.lstm_layer import steps
from allennlp_sentmatch.nn.kernels.once_differentiable import once_differentiable
from allennlp_sentmatch.nn.kernels.packing import Packing
from allennlp_sentmatch.nn.kernels.pointwise import tanh
from allennlp_sentmatch.nn.kernels.products import product


class Weights(NamedTuple):
    """The parameters of one direction, by the names that `LSTMN` has for them."""

    weight_ih_l0: Tensor
    weight_hh_l0: Tensor
    bias_l0: Tensor
    attention_hidden: Tensor
    attention_input: Tensor
    attention_previous: Tensor
    attention_vector: Tensor


def read(
    inputs: Tensor,
    mask: Tensor,
    directions: Sequence[Weights],
    initial_state: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Read sentences in one direction or in two.

    # Parameters

    inputs : `Tensor`
        Shape (B, T, D).
    mask : `Tensor`
        Shape (B, T), right-padded, with at least one token.
    directions : `Sequence[Weights]`
        Of the S directions, left-to-right first.
    initial_state : `Tensor`, optional (default = zeros)
        Shape (S, B, 2H): h~ and c~ of the first step.

    # Returns

    `Tuple[Tensor, Tensor, List[Tensor]]`
        The tapes, each (B, T, S * H) and zero at padding; and each direction's attention
        (B, T, T), rows and columns in the order of its reading.
    """
    B, T = mask.shape
    packing = Packing.of(mask, bidirectional=len(directions) == 2)
    first_tokens = packing.places[0, : packing.sizes[0]]
    order = torch.div(first_tokens, T, rounding_mode="floor")  # of the sentences, longest first
    weights = Weights(*(torch.stack(same) for same in zip(*directions)))  # (S, ...) each
    projected = linear(
        packing.pack(inputs),
        torch.cat([weights.weight_ih_l0, weights.attention_input], 1),
        torch.cat([weights.bias_l0, torch.zeros_like(weights.attention_vector)], 1),
    )
    hidden, cell, attention = lstmn_recurrence(
        projected,
        torch.cat([weights.weight_hh_l0, weights.attention_previous], 1),
        weights.attention_hidden,
        weights.attention_vector,
        None if initial_state is None else initial_state[:, order],
        packing.sizes,
    )
    S, longest = attention.shape[:2]
    by_sentence = attention.new_zeros(S, B, T, T)
    by_sentence[:, order, :longest, :longest] = attention.permute(0, 3, 1, 2)
    return packing.unpack(hidden), packing.unpack(cell), list(by_sentence)


def lstmn_recurrence(
    projected: Tensor,
    weight_summary: Tensor,
    weight_key: Tensor,
    vector: Tensor,
    initial: Optional[Tensor],
    sizes: list[int],
) -> tuple[Tensor, Tensor, Tensor]:
    """Equations 8-13 for packed sentences, in S directions side by side.

    # Parameters

    projected : `Tensor`
        Shape (S, N, 4H + A): W x + b, blocks i, f, g, o, and W_x x.
    weight_summary : `Tensor`
        Shape (S, 4H + A, H): what multiplies h~, the gates' weights and W_h~.
    weight_key, vector : `Tensor`
        Shapes (S, A, H) and (S, A): W_h and v.
    initial : `Tensor`, optional
        Shape (S, B, 2H): h~ and c~ of the first step; zeros if `None`.
    sizes : `List[int]`
        How many sentences have a token at each of T steps, not increasing.

    # Returns

    `Tuple[Tensor, Tensor, Tensor]`
        h and c, each (S, N, H), and the attention (S, T, T, B), of each step over all.
    """
    tensors = (projected, weight_summary, weight_key, vector, initial)
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors):
        hidden, cell, attention = _Recurrence.apply(*tensors, sizes)  # type: ignore[no-untyped-call]
    else:
        hidden, cell, attention, *_ = _read(*tensors, sizes)
    return hidden, cell, attention


def _read(
    projected: Tensor,
    weight_summary: Tensor,
    weight_key: Tensor,
    vector: Tensor,
    initial: Optional[Tensor],
    sizes: list[int],
) -> tuple[Tensor, ...]:
    """The results, and of each step the gates (S, N, 4H), summaries, tapes, queries and keys."""
    S, A, H = weight_key.shape
    N, B, T = projected.size(1), sizes[0], len(sizes)
    gates = projected.new_empty(S, N, 4 * H)
    summaries = projected.new_zeros(S, N, 2 * H)  # h~ and c~
    queries = projected.new_zeros(S, N, A)  # twice what the keys are added to
    tapes = projected.new_empty(S, T, B, 2 * H)  # h and c, where there is such a token
    keys = projected.new_empty(S, T, B, A)  # twice W_h h
    attention = projected.new_zeros(S, T, T, B)
    room = projected.new_empty(S * T * B * max(A, 2 * H))
    vector = 2 * vector.unsqueeze(2)  # (S, A, 1)
    projected_at, gates_at, summaries_at, queries_at = (
        steps(x, sizes) for x in (projected, gates, summaries, queries)
    )
    from_summary: Optional[Tensor] = None  # W h~ and W_h~ h~ of the last step
    for t, n in enumerate(sizes):
        x, a, summary, query = projected_at[t], gates_at[t], summaries_at[t], queries_at[t]
        if t > 0:
            query.copy_(x[..., 4 * H :])
            if from_summary is not None:
                query.add_(from_summary[:, :n, 4 * H :])
            hidden_layer = _room(room, S, t, n, A)
            torch.add(keys[:, :t, :n], query.mul_(2).unsqueeze(1), out=hidden_layer).sigmoid_()
            scores = torch.bmm(hidden_layer.view(S, t * n, A), vector).view(S, t, n)
            weights = scores.softmax(1)
            attention[:, t, :t, :n] = weights
            weighted = _room(room, S, t, n, 2 * H)
            torch.mul(tapes[:, :t, :n], weights.unsqueeze(3), out=weighted)
            torch.sum(weighted, 1, out=summary)
        elif initial is not None:
            summary.copy_(initial)
        if t > 0 or initial is not None:
            from_summary = torch.stack(
                [product(h, w) for h, w in zip(summary[..., :H], weight_summary)]
            )  # (S, n, 4H + A)
            torch.add(x[..., : 4 * H], from_summary[..., : 4 * H], out=a)
        else:
            a.copy_(x[..., : 4 * H])
        i, f, g, o = a.chunk(4, -1)
        g.mul_(2)
        a.sigmoid_()
        g.mul_(2).sub_(1)  # tanh
        h, c = tapes[:, t, :n].chunk(2, -1)
        torch.mul(i, g, out=c)
        c.addcmul_(f, summary[..., H:])
        torch.mul(o, tanh(c), out=h)
        for s in range(S):
            torch.mul(product(h[s], weight_key[s]), 2, out=keys[s, t, :n])
    hidden, cell = (
        torch.cat([tape[:, t, :n] for t, n in enumerate(sizes)], 1) for tape in tapes.chunk(2, -1)
    )
    return hidden, cell, attention, gates, summaries, tapes, queries, keys


def _room(room: Tensor, *shape: int) -> Tensor:
    """The beginning of the scratch memory `room`, in this shape."""
    size = 1
    for extent in shape:
        size *= extent
    return room[:size].view(shape)


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        weight_summary: Tensor,
        weight_key: Tensor,
        vector: Tensor,
        initial: Optional[Tensor],
        sizes: list[int],
    ) -> tuple[Tensor, Tensor, Tensor]:
        hidden, cell, attention, *kept = _read(
            projected, weight_summary, weight_key, vector, initial, sizes
        )
        ctx.save_for_backward(weight_summary, weight_key, vector, hidden, cell, attention, *kept)
        ctx.sizes = sizes
        ctx.set_materialize_grads(False)
        return hidden, cell, attention

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any,
        grad_hidden: Optional[Tensor],
        grad_cell: Optional[Tensor],
        grad_attention: Optional[Tensor],
    ) -> tuple[Optional[Tensor], ...]:
        weight_summary, weight_key, vector, hidden, cell, attention, *kept = ctx.saved_tensors
        gates, summaries, tapes, queries, keys = kept
        sizes: list[int] = ctx.sizes
        S, A, H = weight_key.shape
        N, B, T = gates.size(1), sizes[0], len(sizes)

        # The derivatives of c by the gates' arguments (of h, for o). Times the gradient of c (of
        # h), they become the gradient of the arguments. Beside them, the next step's query's.
        i, f, g, o = gates.chunk(4, -1)
        tanh_cell = tanh(cell)
        grad_from_summary = gates.new_zeros(S, N, 4 * H + A)
        grad_gates = grad_from_summary[..., : 4 * H]
        torch.addcmul(gates, gates, gates, value=-1, out=grad_gates)  # sigmoid' = s - s * s
        by_i, by_f, by_g, by_o = grad_gates.chunk(4, -1)
        by_i.mul_(g)
        by_f.mul_(summaries[..., H:])
        torch.mul(i, g, out=by_g)
        torch.addcmul(i, by_g, g, value=-1, out=by_g)  # i * (1 - g * g)
        by_o.mul_(tanh_cell)
        by_cell = torch.addcmul(o, hidden, tanh_cell, value=-1)  # of h: o * (1 - tanh(c)^2)

        grad_queries = torch.zeros_like(queries)
        grad_keys = torch.zeros_like(queries)
        grad_vector = torch.zeros_like(vector)
        grad_tapes = torch.zeros_like(tapes)
        grad_of_keys = torch.zeros_like(keys)  # divided by 4 v
        for outer, tape in ((grad_hidden, 0), (grad_cell, H)):
            if outer is not None:
                for t, (n, rows) in enumerate(zip(sizes, steps(outer, sizes))):
                    grad_tapes[:, t, :n, tape : tape + H] = rows
        room = gates.new_empty(S * T * B * max(A, 2 * H))
        summary_t = weight_summary.transpose(1, 2).contiguous()
        key_t = weight_key.transpose(1, 2).contiguous()
        scale = 4 * vector.unsqueeze(1)  # (S, 1, A)
        from_summary_at, queries_at, grad_queries_at, grad_keys_at, by_cell_at, f_at = (
            steps(x, sizes)
            for x in (grad_from_summary, queries, grad_queries, grad_keys, by_cell, f)
        )
        grad_summary = gates.new_zeros(S, B, 2 * H)
        for t in range(T - 1, -1, -1):
            n = sizes[t]
            dh, dc = grad_tapes[:, t, :n].chunk(2, -1)
            if t + 1 < T:
                after = sizes[t + 1]
                dk = torch.mul(grad_of_keys[:, t, :n], scale, out=grad_keys_at[t])
                for s in range(S):
                    dh[s, :after].add_(product(dk[s, :after], key_t[s]))
                from_summary_at[t][:, :after, 4 * H :] = grad_queries_at[t + 1]
            dc.addcmul_(dh, by_cell_at[t])
            blocks = from_summary_at[t][..., : 4 * H].view(S, n, 4, H)
            blocks[:, :, :3].mul_(dc.unsqueeze(2))
            blocks[:, :, 3].mul_(dh)
            grad_summary = gates.new_empty(S, n, 2 * H)
            for s in range(S):
                grad_summary[s, :, :H] = product(from_summary_at[t][s], summary_t[s])
            torch.mul(dc, f_at[t], out=grad_summary[..., H:])
            if t == 0:
                break
            # The summary's way back onto the tapes, and by the weights' softmax to the scores.
            weights = attention[:, t, :t, :n]
            upstream = grad_summary.unsqueeze(1)  # (S, 1, n, 2H)
            scratch = _room(room, S, t, n, 2 * H)
            grad_weights = torch.mul(tapes[:, :t, :n], upstream, out=scratch).sum(3)  # (S, t, n)
            if grad_attention is not None:
                grad_weights.add_(grad_attention[:, t, :t, :n])
            grad_tapes[:, :t, :n].addcmul_(weights.unsqueeze(3), upstream)
            grad_scores = weights * grad_weights
            grad_scores.addcmul_(weights, grad_scores.sum(1, keepdim=True), value=-1)
            # The hidden layer's, and by it the vector's, keys' and query's.
            layer = _room(room, S, t, n, A)
            torch.add(keys[:, :t, :n], queries_at[t].unsqueeze(1), out=layer).sigmoid_()
            flat = grad_scores.view(S, 1, t * n)
            grad_vector.add_(torch.bmm(flat, layer.view(S, t * n, A)).squeeze(1), alpha=2)
            layer.addcmul_(layer, layer, value=-1).mul_(grad_scores.unsqueeze(3))
            grad_of_keys[:, :t, :n].add_(layer)
            torch.mul(layer.sum(1), scale, out=grad_queries_at[t])
        return (
            torch.cat([grad_gates, grad_queries], 2),
            weight_gradient(summaries[..., :H], grad_from_summary),
            weight_gradient(hidden, grad_keys),
            grad_vector,
            grad_summary if ctx.needs_input_grad[4] else None,
            None,
        )
