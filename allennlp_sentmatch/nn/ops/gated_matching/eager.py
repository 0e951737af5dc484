r"""The steps of the gated attention-based recurrence in operations of torch.

The attention's hidden layer is recomputed and not saved. All that is multiplied is contiguous, as
oneDNN has no fast product of a matrix with gaps between its rows.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.packing import Packing, steps
from allennlp_sentmatch.nn.ops.gated_matching.tables import (
    GatedMatchingArguments,
    GatedMatchingOutputGradients,
    GatedMatchingTables,
)


def forward(
    backend: Backend, packing: Packing, padding: Tensor, arguments: GatedMatchingArguments
) -> GatedMatchingTables:
    """Run the steps.

    # Parameters

    backend : `Backend`
    packing : `Packing`
        Of the passages.
    padding : `Tensor`
        Shape (B, M): true where the questions, in the order of the packing, are padded.
    arguments : `GatedMatchingArguments`
    """
    sizes = packing.sizes
    S, N, P = arguments.passage.shape
    B, M, A = arguments.keys.shape[1:]
    D, H = arguments.gates.size(2), arguments.weight_hh.size(2)
    Q = D - P
    new = arguments.passage.new_empty
    tables = GatedMatchingTables(
        queries=2 * arguments.queries,
        gates=arguments.gates.clone(),
        gated=new(S, N, D),
        gru=new(S, N, 3 * H),
        candidate=new(S, N, H),
        hidden=new(S, N, H),
        attention=new(S, N, M),
    )
    at = [GatedMatchingTables(*rows) for rows in zip(*(steps(table, sizes) for table in tables))]
    passage_at = steps(arguments.passage, sizes)
    linear, prepacked = backend.products.linear, backend.products.prepacked
    # From the state to r, z and n and to the query, which is doubled in the tables.
    state_weight = torch.cat([arguments.weight_hh, 2 * arguments.attention_previous], 1)
    state_bias = F.pad(arguments.bias_hh, (0, A))  # (S, 3H + A)
    state_weights = [prepacked(weight) for weight in state_weight]
    input_weights = [prepacked(weight) for weight in arguments.weight_ih]
    keys, vector = 2 * arguments.keys, 2 * arguments.attention_vector.unsqueeze(2)
    lowest = torch.finfo(keys.dtype).min
    # h_0 is zero.
    from_state = state_bias.unsqueeze(1).repeat(1, B, 1)  # (S, B, 3H + A)
    mixed, buffer = new(S, B, Q + D), new(S * B * M * A)
    for t, (n, step) in enumerate(zip(sizes, at)):
        if t > 0:
            for s, weight in enumerate(state_weights):
                from_state[s, :n] = linear(at[t - 1].hidden[s, :n], weight, state_bias[s])
        query = step.queries.add_(from_state[:, :n, 3 * H :])  # (S, n, A)
        layer = buffer[: S * n * M * A].view(S, n, M, A)
        torch.add(keys[:, :n], query.unsqueeze(2), out=layer).sigmoid_()
        scores = torch.bmm(layer.view(S, n * M, A), vector).view(S, n, M)
        weights = scores.masked_fill_(padding[:n], lowest).softmax(2)
        weights = weights.masked_fill_(padding[:n], 0.0)  # of an empty question all
        step.attention.copy_(weights)
        for s in range(S):
            torch.bmm(
                weights[s].unsqueeze(1),
                arguments.values[s, :n],
                out=mixed[s, :n].unsqueeze(1),
            )
        context = mixed[:, :n, :Q]  # c, (S, n, Q)
        g = step.gates.add_(mixed[:, :n, Q:]).sigmoid_()  # (S, n, D)
        torch.mul(g[..., :P], passage_at[t], out=step.gated[..., :P])
        torch.mul(g[..., P:], context, out=step.gated[..., P:])
        for s, weight in enumerate(input_weights):
            step.gru[s] = linear(step.gated[s], weight, arguments.bias_ih[s])
        r, z, candidate = step.gru.chunk(3, 2)  # (S, n, H)
        step.gru[..., : 2 * H].add_(from_state[:, :n, : 2 * H]).sigmoid_()
        step.candidate.copy_(from_state[:, :n, 2 * H : 3 * H])
        candidate.addcmul_(r, step.candidate)
        candidate.copy_(backend.tanh(candidate))
        if t > 0:
            torch.sub(at[t - 1].hidden[:, :n], candidate, out=step.hidden)
        else:
            torch.neg(candidate, out=step.hidden)
        step.hidden.mul_(z).add_(candidate)
    return tables


def backward(
    backend: Backend,
    packing: Packing,
    arguments: GatedMatchingArguments,
    tables: GatedMatchingTables,
    outer: GatedMatchingOutputGradients,
    needs: GatedMatchingArguments,
) -> GatedMatchingArguments:
    """Run the steps' backward pass.

    `needs` tells which gradients are needed. Those of other matrices are not computed.
    """
    sizes, products = packing.sizes, backend.products
    S, N, P = arguments.passage.shape
    B, M, A = arguments.keys.shape[1:]
    D, H = tables.gates.size(2), tables.hidden.size(2)
    Q = D - P
    new = tables.hidden.new_empty
    z = tables.gru[..., H : 2 * H].contiguous()
    previous = torch.cat([tables.hidden.new_zeros(S, B, H), packing.previous(tables.hidden)], 1)
    by_input = new(S, N, 3 * H)  # the gradients of W_ih x
    by_state = new(S, N, 3 * H + A)  # those of what is projected from the state, and of the query
    _differentiate_gru(tables, previous, by_input, by_state)
    # The derivative of the gated input by the gate's argument, g * (1 - g) * [u^P; c].
    by_gate = torch.addcmul(tables.gated, tables.gated, tables.gates, value=-1)
    grad_gated, grad_mixed = new(S, N, D), new(S, N, Q + D)
    grad_scores = new(S, N, M)
    grad_keys = torch.zeros_like(arguments.keys)
    grad_vector = torch.zeros_like(arguments.attention_vector)
    keys, scale = 2 * arguments.keys, 4 * arguments.attention_vector.unsqueeze(1)
    values = arguments.values.transpose(2, 3).contiguous()  # whose rows MKL multiplies faster
    to_input = [products.prepacked(weight.t()) for weight in arguments.weight_ih]
    state_weight = torch.cat([arguments.weight_hh, arguments.attention_previous], 1)
    to_state = [products.prepacked(weight.t()) for weight in state_weight]
    buffer, carried = new(S * B * M * A), new(S, B, H)
    at = [
        steps(table, sizes)
        for table in (
            by_input,
            by_state,
            z,
            by_gate,
            tables.gates,
            grad_gated,
            grad_mixed,
            grad_scores,
        )
    ]
    queries_at, attention_at = steps(tables.queries, sizes), steps(tables.attention, sizes)
    outer_at = [None if grad is None else steps(grad, sizes) for grad in outer]
    following = 0  # passages
    for t in range(len(sizes) - 1, -1, -1):
        n = sizes[t]
        inputs, states, z_t, by_gate_t, gates, to_gated, to_mixed, to_scores = (x[t] for x in at)
        grad_hidden = new(S, n, H)
        if outer_at[0] is None:
            grad_hidden.zero_()
        else:
            grad_hidden.copy_(outer_at[0][t])
        grad_hidden[:, :following].add_(carried[:, :following])
        # Through the GRU and the gate.
        inputs.view(S, n, 3, H).mul_(grad_hidden.unsqueeze(2))
        states[..., : 3 * H].view(S, n, 3, H).mul_(grad_hidden.unsqueeze(2))
        for s, weight in enumerate(to_input):
            to_gated[s] = products.linear(inputs[s], weight)
        torch.mul(to_gated[..., P:], gates[..., P:], out=to_mixed[..., :Q])
        torch.mul(to_gated, by_gate_t, out=to_mixed[..., Q:])
        # Through the weighted sum and the softmax to the scores.
        attention = attention_at[t]  # (S, n, M)
        for s in range(S):
            torch.bmm(to_mixed[s].unsqueeze(1), values[s, :n], out=to_scores[s].unsqueeze(1))
        if outer_at[1] is not None:
            to_scores.add_(outer_at[1][t])
        to_scores.mul_(attention)
        to_scores.addcmul_(attention, to_scores.sum(2, keepdim=True), value=-1)
        # Through the hidden layer to v, the keys and the query.
        layer = buffer[: S * n * M * A].view(S, n, M, A)
        torch.add(keys[:, :n], queries_at[t].unsqueeze(2), out=layer).sigmoid_()
        flat = to_scores.reshape(S, 1, n * M)
        grad_vector.add_(torch.bmm(flat, layer.view(S, n * M, A)).squeeze(1), alpha=2)
        layer.addcmul_(layer, layer, value=-1).mul_(to_scores.unsqueeze(3))
        grad_keys[:, :n].add_(layer)
        torch.mul(layer.sum(2), scale, out=states[..., 3 * H :])
        if t > 0:
            for s, weight in enumerate(to_state):
                carried[s, :n] = products.linear(states[s], weight)
            carried[:, :n].addcmul_(grad_hidden, z_t)
        following = n
    grad_weight_hh: Any = None
    grad_attention_previous: Any = None
    if needs.weight_hh or needs.attention_previous:
        grad_state_weight = products.weight_gradient(previous, by_state)
        grad_weight_hh = grad_state_weight[:, : 3 * H]
        grad_attention_previous = grad_state_weight[:, 3 * H :]
    grad_weight_ih: Any = None
    if needs.weight_ih:
        grad_weight_ih = products.weight_gradient(tables.gated, by_input)
    return GatedMatchingArguments(
        passage=grad_gated[..., :P] * tables.gates[..., :P],
        queries=by_state[..., 3 * H :],
        gates=grad_mixed[..., Q:],
        keys=grad_keys.mul_(scale.unsqueeze(2)),
        values=_grad_values(tables.attention, grad_mixed, sizes),
        attention_previous=grad_attention_previous,
        attention_vector=grad_vector,
        weight_ih=grad_weight_ih,
        weight_hh=grad_weight_hh,
        bias_ih=by_input.sum(1),
        bias_hh=by_state[..., : 3 * H].sum(1),
    )


def _differentiate_gru(
    tables: GatedMatchingTables, previous: Tensor, by_input: Tensor, by_state: Tensor
) -> None:
    """Write the derivatives of h by the GRU's projections; times the gradient of h, the gradients.

    `by_input` (S, N, 3H) is for those of the input, `by_state` (S, N, 3H + A) for those of the
    state, of which the last A columns are left as they are.
    """
    r, z, n = tables.gru.chunk(3, 2)
    H = r.size(2)
    by_r, by_z, by_n = by_input.chunk(3, 2)
    torch.mul(1 - z, 1 - n * n, out=by_n)
    torch.mul(previous - n, z * (1 - z), out=by_z)
    by_candidate = torch.mul(by_n, r, out=by_state[..., 2 * H : 3 * H])
    torch.mul(by_candidate * (1 - r), tables.candidate, out=by_r)
    by_state[..., : 2 * H] = by_input[..., : 2 * H]


def _grad_values(attention: Tensor, grad_mixed: Tensor, sizes: list[int]) -> Tensor:
    """The gradient of the values, (S, B, M, K), from a (S, N, M) and that of c (S, N, K).

    Each passage's is one product over all its steps.
    """
    a, grad = (_padded(table, sizes) for table in (attention, grad_mixed))
    return torch.stack([x.permute(1, 2, 0).bmm(y.transpose(0, 1)) for x, y in zip(a, grad)])


def _padded(packed: Tensor, sizes: list[int]) -> Tensor:
    """Packed rows (S, N, K) as (S, T, B, K), zero at padding."""
    S, _, K = packed.shape
    shape = (S, len(sizes), sizes[0], K)
    if packed.size(1) == math.prod(shape[1:3]):
        return packed.view(shape)
    padded = packed.new_zeros(shape)
    for t, rows in enumerate(steps(packed, sizes)):
        padded[:, t, : sizes[t]] = rows
    return padded
