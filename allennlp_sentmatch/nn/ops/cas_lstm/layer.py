r"""A layer of an LSTM or a CAS-LSTM over packed sentences, with its gradient.

W x + b is one product over all steps. A step, forward or backward, is one more product and an
element-wise part, both on rows side by side; no autograd graph is built. The backward pass writes
the gradients of the gates' arguments over the gates; then the gradients of x, W and U are one
product each over all steps. The backends differ in the steps only.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm import cpu, eager, gpu
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerGradients, LayerTables
from allennlp_sentmatch.nn.ops.cas_lstm.weights import LayerParameters
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward, writable
from allennlp_sentmatch.nn.ops.common.packing import Packing

STEPS: dict[str, ModuleType] = {"eager": eager, "cpu": cpu, "gpu": gpu}


def lstm_layer(
    backend: Backend,
    packing: Packing,
    inputs: Tensor,
    lower: Optional[Tensor],
    parameters: LayerParameters,
    initial: Optional[tuple[Tensor, Tensor]] = None,
) -> tuple[Tensor, Tensor]:
    """Run a layer over packed sentences in S directions side by side.

    # Parameters

    backend : `Backend`
        One of `STEPS`.
    packing : `Packing`
        Of the N tokens.
    inputs : `Tensor`
        Shape (S, N, D).
    lower : `Optional[Tensor]`
        Shape (S, N, H): the cells of the layer below, if it has one.
    parameters : `LayerParameters`
    initial : `Optional[tuple[Tensor, Tensor]]`
        h and c before the first token, (S, num_sentences, H) each; zero if `None`. They take the
        place of the packing's first step, whose inputs are not read; the gradients of that step's
        outputs must be zero.

    # Returns

    `tuple[Tensor, Tensor]`
        h and c, both (S, N, H).
    """
    if lower is not None and isinstance(parameters.lower_weight, Tensor):
        lower = lower * parameters.lower_weight
        parameters = parameters._replace(lower_weight=1.0)
    lower = None if lower is None else lower.contiguous()
    arguments = _Arguments(
        backend, packing, inputs, lower, *(initial or (None, None)), **parameters._asdict()
    )
    if torch.is_grad_enabled() and any(
        x.requires_grad for x in arguments.flatten() if isinstance(x, Tensor)
    ):
        hidden, cell = _LSTMLayer.apply(  # type: ignore[no-untyped-call]
            *arguments.flatten()
        )
        return hidden, cell
    tables = _forward(arguments)
    return tables.hidden, tables.cell


class _Arguments(NamedTuple):
    """The arguments of `_LSTMLayer`; or one thing about each, for instance its gradient."""

    backend: Any = None
    packing: Any = None
    inputs: Any = None
    lower: Any = None
    initial_hidden: Any = None
    initial_cell: Any = None
    bias: Any = None
    left_weight: Any = None
    lower_weight: Any = None
    peephole_left: Any = None
    peephole_lower: Any = None
    weight_ih: Sequence[Any] = ()
    weight_hh: Sequence[Any] = ()

    def flatten(self) -> tuple[Any, ...]:
        """As autograd takes them, which finds no tensor within a sequence."""
        return (*self[:-2], *self.weight_ih, *self.weight_hh)

    @classmethod
    def unflatten(cls, flat: Sequence[Any]) -> "_Arguments":
        """The inverse of `flatten`."""
        first, weights = flat[: len(cls._fields) - 2], flat[len(cls._fields) - 2 :]
        S = len(weights) // 2
        return cls(*first)._replace(weight_ih=weights[:S], weight_hh=weights[S:])


def _forward(arguments: _Arguments) -> LayerTables:
    x = arguments
    S, N, _ = x.inputs.shape
    R, H = x.weight_hh[0].shape
    gates = x.backend.products.affine(x.inputs, x.weight_ih, x.bias)
    if x.peephole_lower is not None:
        gates[..., R:].addcmul_(x.lower, x.peephole_lower)
    hidden, cell = gates.new_empty(2, S, N, H)
    if x.initial_hidden is not None:
        num_sentences = x.packing.num_sentences
        hidden[:, :num_sentences], cell[:, :num_sentences] = x.initial_hidden, x.initial_cell
    tables = _tables(x, gates, hidden, cell)
    if N > 0:
        STEPS[x.backend.name].forward(x.backend, tables)
    return tables


def _tables(arguments: _Arguments, gates: Tensor, hidden: Tensor, cell: Tensor) -> LayerTables:
    return LayerTables(
        sizes=arguments.packing.sizes,
        weight_hh=arguments.weight_hh,
        gates=gates,
        hidden=hidden,
        cell=cell,
        lower=arguments.lower,
        left_weight=arguments.left_weight,
        lower_weight=arguments.lower_weight,
        peephole_left=arguments.peephole_left,
        first_step=0 if arguments.initial_hidden is None else 1,
    )


class _LSTMLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *flat: Any) -> tuple[Tensor, Tensor]:
        tables = _forward(_Arguments.unflatten(flat))
        ctx.save_for_backward(
            tables.gates,
            tables.hidden,
            tables.cell,
            *(x if isinstance(x, Tensor) else None for x in flat),
        )
        ctx.constants = [None if isinstance(x, Tensor) else x for x in flat]
        ctx.set_materialize_grads(False)
        return tables.hidden, tables.cell

    @staticmethod
    @analytic_backward
    def backward(
        ctx: Any, grad_hidden: Optional[Tensor], grad_cell: Optional[Tensor]
    ) -> tuple[Optional[Tensor], ...]:
        gates, hidden, cell, *saved = ctx.saved_tensors
        x = _Arguments.unflatten(
            [constant if y is None else y for y, constant in zip(saved, ctx.constants)]
        )
        needed = _Arguments.unflatten(ctx.needs_input_grad)
        tables = _tables(x, writable(gates), hidden, cell)
        grads = LayerGradients(
            hidden=torch.zeros_like(hidden) if grad_hidden is None else grad_hidden,
            cell=grad_cell,
            lower=torch.empty_like(x.lower) if needed.lower else None,
            left_weight=torch.zeros_like(x.left_weight) if needed.left_weight else None,
            initial_cell=torch.empty_like(x.initial_cell) if needed.initial_cell else None,
        )
        if hidden.size(1) > 0:
            STEPS[x.backend.name].backward(x.backend, tables, grads)
        return _gradients(x, needed, tables, grads).flatten()


def _gradients(
    x: _Arguments, needed: _Arguments, tables: LayerTables, grads: LayerGradients
) -> _Arguments:
    """Those of all arguments, from those of the gates' arguments, which are in `tables.gates`."""
    products, packing = x.backend.products, x.packing
    R, H = x.weight_hh[0].shape
    grad_gates = tables.gates  # (S, N, GH)
    # The rows from the second step on, and what they have on their left.
    first = packing.num_sentences
    if x.initial_hidden is not None:  # no step was run in their rows
        grad_gates[:, :first] = 0
        if grads.lower is not None:
            grads.lower[:, :first] = 0
    grad_v = grad_gates[..., 4 * H :]  # (S, N, H), or without columns
    gradients: dict[str, Any] = {
        "left_weight": grads.left_weight,
        "weight_ih": [None] * len(x.weight_ih),
        "weight_hh": [None] * len(x.weight_hh),
    }
    if needed.inputs:
        gradients["inputs"] = products.input_gradient(x.weight_ih, grad_gates)
    if grads.lower is not None:
        if x.peephole_lower is not None:
            grads.lower.addcmul_(grad_v, x.peephole_lower)
        gradients["lower"] = grads.lower
    if needed.initial_hidden:
        grad_initial = torch.zeros_like(x.initial_hidden)  # (S, B, H)
        if len(packing.sizes) > 1:
            n = packing.sizes[1]
            grad_initial[:, :n] = products.input_gradient(
                x.weight_hh, grad_gates[:, first : first + n, :R]
            )
        gradients["initial_hidden"] = grad_initial
    if needed.initial_cell:
        gradients["initial_cell"] = grads.initial_cell
    if needed.bias:
        gradients["bias"] = grad_gates.sum(1)
    if needed.peephole_left:
        by_left = grad_v[:, first:] * packing.previous(tables.cell)
        gradients["peephole_left"] = by_left.sum(1, keepdim=True)
    if needed.peephole_lower:
        gradients["peephole_lower"] = (grad_v * x.lower).sum(1, keepdim=True)
    if any(needed.weight_ih):
        gradients["weight_ih"] = products.weight_gradients(x.inputs, grad_gates)
    if any(needed.weight_hh):
        left_hidden = packing.previous(tables.hidden)
        gradients["weight_hh"] = products.weight_gradients(left_hidden, grad_gates[:, first:, :R])
    return _Arguments(**gradients)
