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

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.kernels.kernel_backward import kernel_backward
from allennlp_sentmatch.nn.kernels.linear import affine, input_gradient, weight_gradient
from allennlp_sentmatch.nn.kernels.packing import Packing, steps
from allennlp_sentmatch.nn.kernels.pointwise import tanh
from allennlp_sentmatch.nn.kernels.products import product
from allennlp_sentmatch.nn.kernels.saved_tensors import writable


class Weights(NamedTuple):
    """The parameters of one direction, by the names that `LSTMN` has for them; or of S, stacked."""

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
    weights = [
        same[0].unsqueeze(0) if len(same) == 1 else torch.stack(same) for same in zip(*directions)
    ]
    tensors: tuple[Any, ...] = (
        packing.pack(inputs),
        None if initial_state is None else initial_state[:, order],
        *weights,
    )
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors):
        hidden, cell, attention = _Reading.apply(packing, *tensors)  # type: ignore[no-untyped-call]
    else:
        hidden, cell, attention, *_ = _read(packing.sizes, *tensors)
    S, longest = attention.shape[:2]
    by_sentence = attention.new_zeros(S, B, T, T)
    by_sentence[:, order, :longest, :longest] = attention.permute(0, 3, 1, 2)
    return packing.unpack(hidden), packing.unpack(cell), list(by_sentence)


def _read(
    sizes: list[int], inputs: Tensor, initial: Optional[Tensor], *parameters: Tensor
) -> tuple[Tensor, ...]:
    """Read packed inputs (S, N, D), S directions side by side.

    Returns h and c, each (S, N, H), the attention (S, T, T, B) of each step over all steps, and for
    the backward pass the gates (S, N, 4H), summaries (S, N, 2H), tapes (S, T, B, 2H), queries
    (S, N, A) and keys (S, T, B, A).
    """
    weights = Weights(*parameters)
    S, A, H = weights.attention_hidden.shape
    N, B, T = inputs.size(1), sizes[0], len(sizes)
    gates = affine(inputs, weights.weight_ih_l0, weights.bias_l0)  # W x + b, to begin with
    no_bias = torch.zeros_like(weights.attention_vector)
    queries = affine(inputs, 2 * weights.attention_input, no_bias)  # twice what keys are added to
    weight_key = 2 * weights.attention_hidden
    vector = 2 * weights.attention_vector.unsqueeze(2)  # (S, A, 1)
    # h~ serves the gates of its own step, and the query of the next.
    weight_summary = torch.cat([weights.weight_hh_l0, 2 * weights.attention_previous], 1)
    summaries = gates.new_empty(S, N, 2 * H)  # h~ and c~
    tapes = gates.new_empty(S, T, B, 2 * H)  # h and c, where there is such a token
    keys = gates.new_empty(S, T, B, A)  # twice W_h h
    attention = gates.new_zeros(S, T, T, B)
    from_summary = gates.new_empty(S, B, 4 * H + A)
    room = gates.new_empty(S * T * B * max(A, 2 * H))
    gates_at, summaries_at, queries_at = (steps(x, sizes) for x in (gates, summaries, queries))
    for t, n in enumerate(sizes):
        a, summary = gates_at[t], summaries_at[t]  # (S, n, 4H), (S, n, 2H)
        if t > 0:
            query = queries_at[t]  # (S, n, A)
            if t > 1 or initial is not None:
                query.add_(from_summary[:, :n, 4 * H :])
            hidden_layer = _room(room, S, t, n, A)
            torch.add(keys[:, :t, :n], query.unsqueeze(1), out=hidden_layer).sigmoid_()
            scores = torch.bmm(hidden_layer.view(S, t * n, A), vector).view(S, t, n)
            s = scores.softmax(1)
            attention[:, t, :t, :n] = s
            weighted = torch.mul(tapes[:, :t, :n], s.unsqueeze(3), out=_room(room, S, t, n, 2 * H))
            torch.sum(weighted, 1, out=summary)
        elif initial is not None:
            summary.copy_(initial)
        else:
            summary.zero_()
        if t > 0 or initial is not None:
            for direction in range(S):
                projected = product(summary[direction, :, :H], weight_summary[direction])
                a[direction].add_(projected[:, : 4 * H])
                from_summary[direction, :n, 4 * H :] = projected[:, 4 * H :]
        i, f, g, o = a.chunk(4, -1)
        g.mul_(2)
        a.sigmoid_()
        g.mul_(2).sub_(1)  # tanh(x) = 2 sigmoid(2x) - 1
        h, c = tapes[:, t, :n].chunk(2, -1)
        torch.mul(i, g, out=c)
        c.addcmul_(f, summary[..., H:])
        torch.mul(o, tanh(c), out=h)
        if t + 1 < T:
            for direction in range(S):
                keys[direction, t, :n] = product(h[direction], weight_key[direction])
    hidden, cell = (
        torch.cat([tape[:, t, :n] for t, n in enumerate(sizes)], 1) for tape in tapes.chunk(2, -1)
    )
    return hidden, cell, attention, gates, summaries, tapes, queries, keys


def _room(room: Tensor, *shape: int) -> Tensor:
    """The beginning of the scratch memory `room`, in this shape."""
    return room[: math.prod(shape)].view(shape)


class _Reading(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, packing: Packing, *tensors: Any) -> tuple[Tensor, Tensor, Tensor]:
        hidden, cell, attention, *kept = _read(packing.sizes, *tensors)
        ctx.packing = packing
        ctx.save_for_backward(*tensors, hidden, cell, attention, *kept)
        ctx.set_materialize_grads(False)
        return hidden, cell, attention

    @staticmethod
    @kernel_backward
    def backward(ctx: Any, *gradients: Optional[Tensor]) -> tuple[Optional[Tensor], ...]:
        inputs, initial, *parameters = ctx.saved_tensors[:-8]
        weights = Weights(*parameters)
        hidden, cell, attention, gates, summaries, tapes, queries, keys = ctx.saved_tensors[-8:]
        packing: Packing = ctx.packing
        sizes = packing.sizes
        S, A, H = weights.attention_hidden.shape
        N, B, T = gates.size(1), sizes[0], len(sizes)
        last = sizes[-1]

        # Each gate becomes the derivative of c by its argument (of h, for o). Times the gradient of
        # c (of h), that becomes the gradient of the argument.
        grad_gates = writable(gates)  # (S, N, 4H)
        i, f, g, o = grad_gates.chunk(4, -1)
        by_summary_cell = f.contiguous()  # of c, by c~
        tanh_cell = tanh(cell)
        by_cell = torch.addcmul(o, hidden, tanh_cell, value=-1)  # of h: o * (1 - tanh(c)^2)
        new_cell = torch.mul(i, g, out=tanh_cell)
        torch.addcmul(i, new_cell, g, value=-1, out=g)  # i * (1 - g * g)
        torch.addcmul(new_cell, new_cell, i, value=-1, out=i)  # i * (1 - i) * g
        f.addcmul_(f, f, value=-1).mul_(summaries[..., H:])
        torch.addcmul(hidden, hidden, o, value=-1, out=o)  # o * (1 - o) * tanh(c)

        grad_queries = torch.empty_like(queries)
        grad_queries[:, :B] = 0  # the first step's, which attends to nothing
        grad_keys = torch.empty_like(queries)
        grad_keys[:, N - last :] = 0  # the last step's, which nothing attends to
        grad_key_table = torch.zeros_like(keys)  # divided by 4 v
        grad_tapes = torch.zeros_like(tapes)
        grad_vector = torch.zeros_like(weights.attention_vector)
        for outer, tape in zip(gradients, grad_tapes.chunk(2, -1)):
            if outer is not None:
                for t, rows in enumerate(steps(outer, sizes)):
                    tape[:, t, : sizes[t]] = rows
        room = gates.new_empty(S * T * B * max(A, 2 * H))
        gates_t, query_t, key_t = (  # (S, H, 4H), (S, H, A), (S, H, A)
            weight.transpose(1, 2)
            for weight in (
                weights.weight_hh_l0,
                weights.attention_previous,
                weights.attention_hidden,
            )
        )
        scale = 4 * weights.attention_vector.unsqueeze(1)  # (S, 1, A)
        grad_gates_at, queries_at, grad_queries_at, grad_keys_at, by_cell_at, by_summary_cell_at = (
            steps(x, sizes)
            for x in (grad_gates, queries, grad_queries, grad_keys, by_cell, by_summary_cell)
        )
        after = 0  # the sentences that go on
        for t in range(T - 1, -1, -1):
            n, a = sizes[t], grad_gates_at[t]  # (S, n, 4H)
            dh, dc = grad_tapes[:, t, :n].chunk(2, -1)
            if after:
                dk = torch.mul(grad_key_table[:, t, :n], scale, out=grad_keys_at[t])
                for direction in range(S):
                    dh[direction, :after].add_(product(dk[direction, :after], key_t[direction]))
            dc.addcmul_(dh, by_cell_at[t])
            blocks = a.view(S, n, 4, H)
            blocks[:, :, :3].mul_(dc.unsqueeze(2))
            blocks[:, :, 3].mul_(dh)
            grad_summary = gates.new_empty(S, n, 2 * H)
            for direction, grad in enumerate(grad_summary):
                grad[:, :H] = product(a[direction], gates_t[direction])
                if after:
                    dq = grad_queries_at[t + 1][direction]  # (after, A)
                    grad[:after, :H].add_(product(dq, query_t[direction]))
            torch.mul(dc, by_summary_cell_at[t], out=grad_summary[..., H:])
            after = n
            if t == 0:
                break
            # The summary's way back onto the tapes, and by the weights' softmax to the scores.
            s, upstream = attention[:, t, :t, :n], grad_summary.unsqueeze(1)
            weighted = torch.mul(tapes[:, :t, :n], upstream, out=_room(room, S, t, n, 2 * H))
            grad_s = weighted.sum(3)  # (S, t, n)
            if gradients[2] is not None:
                grad_s.add_(gradients[2][:, t, :t, :n])
            grad_tapes[:, :t, :n].addcmul_(s.unsqueeze(3), upstream)
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

        by_inputs = None
        if ctx.needs_input_grad[1]:
            by_inputs = input_gradient(weights.weight_ih_l0, grad_gates)
            by_inputs.add_(input_gradient(weights.attention_input, grad_queries))
        summaries = summaries[..., :H].contiguous()
        by_weights = Weights(
            weight_ih_l0=weight_gradient(inputs, grad_gates),
            weight_hh_l0=weight_gradient(summaries, grad_gates),
            bias_l0=grad_gates.sum(1),
            attention_hidden=weight_gradient(hidden, grad_keys),
            attention_input=weight_gradient(inputs, grad_queries),
            attention_previous=weight_gradient(packing.previous(summaries), grad_queries[:, B:]),
            attention_vector=grad_vector,
        )
        return (None, by_inputs, grad_summary if initial is not None else None, *by_weights)
