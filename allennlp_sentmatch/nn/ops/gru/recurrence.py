"""A layer of a GRU over a batch of sentences, with an analytic backward pass.

`naive` holds the equations.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward, writable
from allennlp_sentmatch.nn.ops.common.packing import Packing, mask_of
from allennlp_sentmatch.nn.ops.gru import cpu, naive
from allennlp_sentmatch.nn.ops.gru.tables import GRUTables
from allennlp_sentmatch.nn.ops.gru.weights import GRUWeights

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "cpu")
STEPS: dict[str, ModuleType] = {"cpu": cpu}


def gru_recurrence(
    inputs: Tensor, mask: Optional[Tensor], directions: Sequence[GRUWeights]
) -> Tensor:
    """Run a layer in one or two directions.

    # Parameters

    inputs : `Tensor`
        Shape (B, T, D). The padding has no effect.
    mask : `Optional[Tensor]`
        Shape (B, T), bool, right-padded. `None`: nothing is padding.
    directions : `Sequence[GRUWeights]`
        The parameters of each of the S directions, left-to-right first.

    # Returns

    `Tensor`
        The states, (B, T, S * H), zero at padding.
    """
    parameters = [parameter for weights in directions for parameter in weights]
    backend = resolve("GRU", IMPLEMENTATIONS, inputs, *parameters)
    if backend.name in ("naive", "scan"):
        return naive.gru_recurrence(inputs, mask_of(inputs, mask), directions)
    with without_autocast(inputs.device):
        packing = Packing.of(inputs, mask, bidirectional=len(directions) == 2)
        hidden = _Steps.apply(  # type: ignore[no-untyped-call]
            backend, packing, packing.pack(inputs), *parameters
        )
        return packing.unpack(hidden)


class _Arguments(NamedTuple):
    """The arguments of the layer's function, or in the same order their gradients."""

    backend: Any
    packing: Any
    inputs: Any  # (S, N, D)
    directions: Any  # the `GRUWeights` of each

    def flatten(self) -> tuple[Any, ...]:
        """As autograd takes them, which finds no tensor within a sequence."""
        return (*self[:3], *(parameter for weights in self.directions for parameter in weights))

    @classmethod
    def unflatten(cls, flat: Sequence[Any]) -> "_Arguments":
        """The inverse of `flatten`."""
        size = len(GRUWeights._fields)
        weights = [GRUWeights(*flat[i : i + size]) for i in range(3, len(flat), size)]
        backend, packing, inputs = flat[:3]
        return cls(backend, packing, inputs, weights)


class _Steps(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *flat: Any) -> Tensor:
        x = _Arguments.unflatten(flat)
        weight_ih, _, bias_ih, _ = zip(*x.directions)
        gates = x.backend.products.affine(x.inputs, weight_ih, torch.stack(bias_ih))  # (S, N, 3H)
        candidate: Tensor
        hidden: Tensor
        candidate, hidden = gates.new_empty(2, *gates.shape[:2], gates.size(2) // 3)
        tables = _tables(x, gates, candidate, hidden)
        STEPS[x.backend.name].forward(x.backend, tables)
        ctx.save_for_backward(gates, candidate, hidden, *flat[2:])
        ctx.constants = (x.backend, x.packing)
        return hidden

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, grad: Tensor) -> tuple[Optional[Tensor], ...]:
        gates, candidate, hidden, *saved = ctx.saved_tensors
        x = _Arguments.unflatten([*ctx.constants, *saved])
        tables = _tables(x, writable(gates), candidate, hidden)
        steps = STEPS[x.backend.name]
        by_state = steps.backward(x.backend, tables, grad.contiguous())  # (S, N, 3H)
        return _gradients(x, _Arguments.unflatten(ctx.needs_input_grad), tables, by_state).flatten()


def _tables(x: _Arguments, gates: Tensor, candidate: Tensor, hidden: Tensor) -> GRUTables:
    _, weight_hh, _, bias_hh = zip(*x.directions)
    return GRUTables(x.packing.sizes, weight_hh, torch.stack(bias_hh), gates, candidate, hidden)


def _gradients(
    x: _Arguments, needed: _Arguments, tables: GRUTables, by_state: Tensor
) -> _Arguments:
    """Those of all arguments, from those of W x + b and of U h + c."""
    products, by_input = x.backend.products, tables.gates
    grad_inputs: Optional[Tensor] = None
    if needed.inputs:
        grad_inputs = products.input_gradient([w.weight_ih for w in x.directions], by_input)
    first = x.packing.num_sentences  # the rows of the first step have no state before them
    previous: Optional[Tensor] = None
    if any(weights.weight_hh for weights in needed.directions):
        previous = x.packing.previous(tables.hidden)
    gradients: list[list[Optional[Tensor]]] = []
    for s, needs in enumerate(needed.directions):
        grads: dict[str, Tensor] = {}
        if needs.weight_ih:
            grads["weight_ih"] = products.product_over_rows(by_input[s], x.inputs[s])
        if previous is not None and needs.weight_hh:
            grads["weight_hh"] = products.product_over_rows(by_state[s, first:], previous[s])
        if needs.bias_ih:
            grads["bias_ih"] = by_input[s].sum(0)
        if needs.bias_hh:
            grads["bias_hh"] = by_state[s].sum(0)
        gradients.append([grads.get(name) for name in GRUWeights._fields])
    return _Arguments(None, None, grad_inputs, gradients)
