"""A layer over packed sentences compiled for CPUs: a step is a product and a pass over memory."""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.autograd import Gradients, writable
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedLayer
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.gru.naive import GRUWeights

GRUArguments = tuple[Tensor, Sequence[GRUWeights]]
"""Packed inputs, (S, N, D), and the parameters of S directions."""


class GRUTables(NamedTuple):
    """The tables of S directions and N tokens that a backward pass needs.

    # Attributes

    gates : `Tensor`
        r, z and n, (S, N, 3H).
    candidate : `Tensor`
        U_n h_{t-1} + c_n, (S, N, H).
    hidden : `Tensor`
        h, (S, N, H).
    """

    gates: Tensor
    candidate: Tensor
    hidden: Tensor


def forward(
    backend: Backend,
    packing: Packing,
    arguments: GRUArguments,
    keep: bool,
) -> tuple[Tensor, GRUTables]:
    """Run the steps; return the states (S, N, H) and the tables."""
    inputs, directions = arguments
    products = backend.products
    sizes = packing.sizes
    weight_ih = [weights.weight_ih for weights in directions]
    bias_ih = torch.stack([weights.bias_ih for weights in directions])
    gates = products.affine(inputs, weight_ih, bias_ih)  # W x + b
    S, N, _ = gates.shape
    H = gates.size(2) // 3
    candidate, hidden = gates.new_empty(2, S, N, H)
    layer = GatedLayer(
        sizes,
        hidden,
        {},
        x=gates,
        gates=gates,
        hidden=hidden,
        kept=candidate,
    )
    weight_hh = [weights.weight_hh for weights in directions]
    bias_hh = [weights.bias_hh for weights in directions]
    layer.forward("gru_forward", products, hidden, weight_hh, bias_hh)
    return hidden, GRUTables(gates, candidate, hidden)


def backward(
    backend: Backend,
    packing: Packing,
    arguments: GRUArguments,
    tables: GRUTables,
    gradients: tuple[Tensor],
    needed: GRUArguments,
) -> tuple[Optional[Tensor], list[Gradients]]:
    """Run the backward pass of `forward`.

    Return the gradients of the inputs and of each direction's parameters.
    """
    inputs, directions = arguments
    needed_inputs, needed_directions = needed
    hidden = tables.hidden
    products = backend.products
    sizes = packing.sizes
    by_input = writable(tables.gates)  # (S, N, 3H): the gates, replaced by gradients of W x + b
    by_state = torch.empty_like(by_input)  # (S, N, 3H): the gradients of U h + c
    S, _, H = hidden.shape
    # The gradients of the states from the next step
    carried = hidden.new_zeros(S, packing.num_sentences, H)
    layer = GatedLayer(
        sizes,
        hidden,
        {"carried": carried},
        gates=by_input,
        hidden=hidden,
        kept=tables.candidate,
        grad_gates=by_input,
        grad_recurrent=by_state,
        grad_hidden=gradients[0].contiguous(),
    )
    starts = layer.starts
    for s, weights in enumerate(directions):
        for t in reversed(range(len(sizes))):
            left = starts[t - 1] if t > 0 else None
            layer.run("gru_backward", s, t, left, None)
            if t > 0:
                by_products = by_state[s, starts[t] : starts[t + 1]]  # (n, 3H)
                recurrent = products.linear(by_products, weights.weight_hh.t())  # (n, H)
                carried[s, : sizes[t]].add_(recurrent)
    previous = packing.previous(hidden)
    by_later_state = by_state[:, packing.num_sentences :]  # the steps that have one before them
    grad_inputs = None
    if needed_inputs:
        weight_ih = [weights.weight_ih for weights in directions]
        grad_inputs = products.input_gradient(weight_ih, by_input)
    grad_directions: list[Gradients] = []
    for s, needs in enumerate(needed_directions):
        by_weight_ih = None
        if needs.weight_ih:
            by_weight_ih = products.product_over_rows(by_input[s], inputs[s])
        by_weight_hh = None
        if needs.weight_hh:
            by_weight_hh = products.product_over_rows(by_later_state[s], previous[s])
        by_bias_ih = by_input[s].sum(0)
        by_bias_hh = by_state[s].sum(0)
        grad_directions.append((by_weight_ih, by_weight_hh, by_bias_ih, by_bias_hh))
    return grad_inputs, grad_directions
