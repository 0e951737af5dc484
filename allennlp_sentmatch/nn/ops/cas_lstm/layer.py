r"""A layer of an LSTM or a CAS-LSTM over packed sentences, and its derivative.

W x + b is one product over all steps. A step, forward or backward, is one more product and an
element-wise part, both on adjacent rows; no autograd graph is built. The backward pass
overwrites the gates with the gradients of their arguments; then the gradients of x, W and U are
one product each over all steps.

The steps have two implementations, each forward and backward:

- compiled for CPUs, the element-wise part is one pass over memory;
- "eager", it is operations of torch, in place. In the backward pass, the derivatives that do not
  depend on the gradients from outside are computed for all steps at once. Then a step is a product
  and a few element-wise operations.

Tables of N tokens in S directions have a row for each token, step by step as in `Packing`.
"""

from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.naive import LayerWeights
from allennlp_sentmatch.nn.ops.common.activations import sigmoid_to_tanh
from allennlp_sentmatch.nn.ops.common.autograd import Gradients, differentiable, writable
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedLayer
from allennlp_sentmatch.nn.ops.common.native import num_threads
from allennlp_sentmatch.nn.ops.common.packing import Packing, steps
from allennlp_sentmatch.nn.ops.common.products import stack


class LayerParameters(NamedTuple):
    """The parameters of a layer of H units in S directions, with G = 4 or 5 gates.

    # Attributes

    weight_ih : `Sequence[Tensor]`
        (GH, D) for each direction; not stacked, to avoid a copy.
    weight_hh : `Sequence[Tensor]`
        (R, H) for each direction. R is 4H with peepholes, and otherwise GH.
    bias : `Tensor`
        (S, GH)
    left_weight : `Union[float, Tensor]`
        The factor of the left cell: a number, or (S, 1, H).
    peephole_left, peephole_lower : `Optional[Tensor]`
        (S, 1, H)
    """

    weight_ih: Sequence[Any]
    weight_hh: Sequence[Any]
    bias: Any
    left_weight: Any
    peephole_left: Any
    peephole_lower: Any


class LayerInputs(NamedTuple):
    """The inputs of a layer of H units over N tokens of B sentences in S directions.

    # Attributes

    inputs : `Tensor`
        (S, N, D)
    lower : `Optional[Tensor]`
        The weighted cells of the layer below, (S, N, H); `None` without one.
    initial : `Optional[Tensor]`
        h and c before the first token, (2, S, B, H); zero if `None`. They take the place of the
        packing's first step, whose inputs are not used; the gradients of its outputs must be zero.
    """

    inputs: Any
    lower: Any
    initial: Any


class LayerTables(NamedTuple):
    """The tables that the steps read and write.

    # Attributes

    packing : `Packing`
    x : `LayerInputs`
    parameters : `LayerParameters`
    gates : `Tensor`
        The gates [i; f; g; o; v], (S, N, GH). The forward pass finds in it W x + b (with peepholes,
        v also has peephole_lower * lower), and the backward pass leaves in it the gradients of the
        gates' arguments.
    hidden, cell : `Tensor`
        h and c, (S, N, H) each.
    """

    packing: Packing
    x: LayerInputs
    parameters: LayerParameters
    gates: Tensor
    hidden: Tensor
    cell: Tensor

    @property
    def sizes(self) -> list[int]:
        """Return the number of rows of each step."""
        return self.packing.sizes

    @property
    def first_step(self) -> int:
        """Return the first step to run: 1 if the rows of step 0 hold the initial states."""
        return 0 if self.x.initial is None else 1

    @property
    def first_row(self) -> int:
        """Return the first row of the first step to run."""
        return 0 if self.x.initial is None else self.packing.num_sentences

    @property
    def recurrent_width(self) -> int:
        """Return R, the number of columns of the gates to which U h is added."""
        rows: int = self.parameters.weight_hh[0].size(0)
        return rows


class LayerGradients(NamedTuple):
    """The gradients of a layer's outputs, and buffers for the gradients of its arguments.

    A buffer is `None` if its gradient is not needed.

    # Attributes

    hidden : `Tensor`
        The incoming gradient of h, (S, N, H).
    cell : `Optional[Tensor]`
        The incoming gradient of c, (S, N, H), if there is one.
    lower : `Optional[Tensor]`
        A buffer (S, N, H) for the gradient of `LayerInputs.lower`, without what passes through a
        peephole.
    left_weight : `Optional[Tensor]`
        Zeros (S, 1, H), to which the gradient is added.
    initial_cell : `Optional[Tensor]`
        A buffer (S, B, H) for the gradient of c before the first token.
    """

    hidden: Tensor
    cell: Optional[Tensor]
    lower: Optional[Tensor]
    left_weight: Optional[Tensor]
    initial_cell: Optional[Tensor]


class Steps(NamedTuple):
    """The steps of a layer by one backend.

    `forward` turns W x + b into the gates, and computes h and c. `backward` turns the gates into
    the gradients of their arguments, and fills the buffers of the gradients. The rows before
    `LayerTables.first_row` are left as they are.
    """

    forward: Callable[[Backend, LayerTables], None]
    backward: Callable[[Backend, LayerTables, LayerGradients], None]


def lstm_layer(
    backend: Backend,
    packing: Packing,
    x: LayerInputs,
    directions: Sequence[LayerWeights],
) -> tuple[Tensor, Tensor]:
    """Run a layer by one of `STEPS`, over packed inputs `x` in as many `directions`.

    `x.lower` are the cells of the layer below, not yet weighted. Return h and c, (S, N, H) each.
    """
    weight_ih, weight_hh, bias, left, lower, peephole_left, peephole_lower = zip(*directions)
    if x.lower is not None:
        weighted_cells = x.lower * _side_by_side(lower)
        x = x._replace(lower=weighted_cells)
    parameters = LayerParameters(
        weight_ih=list(weight_ih),
        weight_hh=list(weight_hh),
        bias=stack(bias),
        left_weight=_side_by_side(left),
        peephole_left=_side_by_side(peephole_left),
        peephole_lower=_side_by_side(peephole_lower),
    )
    states: tuple[Tensor, Tensor] = differentiable(
        _forward,
        _backward,
        (backend, packing),
        (x, parameters),
    )
    return states


def _side_by_side(vectors: Sequence[Any]) -> Any:
    """Stack the vectors (H) of S directions to (S, 1, H).

    Return a number or `None`, which is the same for all directions, as it is.
    """
    if isinstance(vectors[0], Tensor):
        return stack(vectors).unsqueeze(1)
    return vectors[0]


def _forward(
    backend: Backend,
    packing: Packing,
    arguments: tuple[LayerInputs, LayerParameters],
    keep: bool,
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, ...]]:
    """Return h and c, (S, N, H) each, and the tables that `_backward` needs: gates, h and c."""
    x, parameters = arguments
    S, N, _ = x.inputs.shape
    R, H = parameters.weight_hh[0].shape
    gates = backend.products.affine(x.inputs, parameters.weight_ih, parameters.bias)
    if parameters.peephole_lower is not None:
        gates[..., R:].addcmul_(x.lower, parameters.peephole_lower)
    hidden, cell = gates.new_empty(2, S, N, H)
    tables = LayerTables(packing, x, parameters, gates, hidden, cell)
    if x.initial is not None:
        hidden[:, : tables.first_row] = x.initial[0]
        cell[:, : tables.first_row] = x.initial[1]
    if N > 0:
        STEPS[backend.name].forward(backend, tables)
    return (hidden, cell), (gates, hidden, cell)


def _backward(
    backend: Backend,
    packing: Packing,
    arguments: tuple[LayerInputs, LayerParameters],
    kept: tuple[Tensor, Tensor, Tensor],
    gradients: Gradients,
    needed: tuple[LayerInputs, LayerParameters],
) -> tuple[LayerInputs, LayerParameters]:
    """Return the gradients of the arguments of `_forward`.

    `kept` are the tables from `_forward`, `gradients` the incoming gradients of h and c, and
    `needed` says which gradients are needed, as in `differentiable`.
    """
    x, parameters = arguments
    needed_inputs, needed_parameters = needed
    gates, hidden, cell = kept
    # The steps overwrite the gates with the gradients of their arguments.
    grad_gates = writable(gates)
    tables = LayerTables(packing, x, parameters, grad_gates, hidden, cell)
    grads = _new_gradients(tables, gradients, needed)
    if hidden.size(1) > 0:
        STEPS[backend.name].backward(backend, tables, grads)
    before = slice(tables.first_row)
    grad_gates[:, before] = 0  # no step was run for these rows
    if grads.lower is not None:
        grads.lower[:, before] = 0
        if parameters.peephole_lower is not None:
            grad_v = grad_gates[..., tables.recurrent_width :]  # (S, N, H)
            grads.lower.addcmul_(grad_v, parameters.peephole_lower)
    by_inputs = None
    if needed_inputs.inputs:
        by_inputs = backend.products.input_gradient(parameters.weight_ih, grad_gates)
    by_initial = None
    if grads.initial_cell is not None:
        initial_hidden = _initial_gradient(backend, tables)
        by_initial = torch.stack([initial_hidden, grads.initial_cell])
    by_parameters = _parameter_gradients(backend, tables, grads, needed_parameters)
    return LayerInputs(by_inputs, grads.lower, by_initial), by_parameters


def _new_gradients(
    tables: LayerTables,
    gradients: Gradients,
    needed: tuple[LayerInputs, LayerParameters],
) -> LayerGradients:
    """Make the buffers that the steps of a backward pass fill, as far as they are needed.

    `gradients` are the incoming gradients of h and c, (S, N, H) each, or `None`.
    """
    x = tables.x
    left_weight = tables.parameters.left_weight
    needed_inputs, needed_parameters = needed
    grad_hidden, grad_cell = gradients
    return LayerGradients(
        hidden=torch.zeros_like(tables.hidden) if grad_hidden is None else grad_hidden,
        cell=grad_cell,
        lower=torch.empty_like(x.lower) if needed_inputs.lower else None,
        left_weight=torch.zeros_like(left_weight) if needed_parameters.left_weight else None,
        initial_cell=torch.empty_like(x.initial[1]) if needed_inputs.initial else None,
    )


def _initial_gradient(backend: Backend, tables: LayerTables) -> Tensor:
    """Return the gradient (S, B, H) of h before the first token, from the second step's gates.

    Sentences without a second step have a gradient of zero.
    """
    gradient = torch.zeros_like(tables.x.initial[0])
    if len(tables.sizes) > 1:
        n = tables.sizes[1]
        start = tables.first_row
        recurrent = tables.gates[:, start : start + n, : tables.recurrent_width]
        weight_hh = tables.parameters.weight_hh
        gradient[:, :n] = backend.products.input_gradient(weight_hh, recurrent)
    return gradient


def _parameter_gradients(
    backend: Backend,
    tables: LayerTables,
    grads: LayerGradients,
    needed: LayerParameters,
) -> LayerParameters:
    """Return the gradients of a layer's parameters.

    The tables have the gradients of the gates' arguments, which the steps have computed, in place
    of the gates; `grads` has the gradient of the left weight. Gradients that are not `needed` may
    be `None`.
    """
    products = backend.products
    packing = tables.packing
    grad_gates = tables.gates
    H = tables.hidden.size(-1)
    grad_later = grad_gates[:, packing.num_sentences :]  # the steps that have one before them
    by_weight_ih: Sequence[Any] = [None] * len(grad_gates)
    if any(needed.weight_ih):
        by_weight_ih = products.weight_gradients(tables.x.inputs, grad_gates)
    by_weight_hh: Sequence[Any] = [None] * len(grad_gates)
    if any(needed.weight_hh):
        left = packing.previous(tables.hidden)
        grad_recurrent = grad_later[..., : tables.recurrent_width]
        by_weight_hh = products.weight_gradients(left, grad_recurrent)
    by_left = None
    if needed.peephole_left:
        left_cell = packing.previous(tables.cell)
        by_row = grad_later[..., 4 * H :] * left_cell
        by_left = by_row.sum(1, keepdim=True)
    by_lower = None
    if needed.peephole_lower:
        by_row = grad_gates[..., 4 * H :] * tables.x.lower  # (S, N, H)
        by_lower = by_row.sum(1, keepdim=True)
    return LayerParameters(
        weight_ih=by_weight_ih,
        weight_hh=by_weight_hh,
        bias=grad_gates.sum(1),
        left_weight=grads.left_weight,
        peephole_left=by_left,
        peephole_lower=by_lower,
    )


def _forward_compiled(backend: Backend, tables: LayerTables) -> None:
    """Run the steps compiled for CPUs."""
    _compiled_layer(tables).forward(
        "lstm_forward",
        backend.products,
        tables.hidden,
        tables.parameters.weight_hh,
        first_step=tables.first_step,
    )


def _backward_compiled(
    backend: Backend,
    tables: LayerTables,
    grads: LayerGradients,
) -> None:
    """Run the derivatives of the steps compiled for CPUs, from the last to the first."""
    sizes = tables.sizes
    gates = tables.gates
    S, _, H = tables.hidden.shape
    grad_lower = grads.lower
    if grad_lower is None and tables.x.lower is not None:
        grad_lower = torch.empty_like(tables.x.lower)  # always written, even if not needed
    grad_cell = grads.cell
    if grad_cell is not None:
        grad_cell = grad_cell.contiguous()
    # The gradients of the cells from the next step.
    carried = gates.new_zeros(S, sizes[0], H)
    grad_left_weight = gates.new_zeros(S, num_threads(), H)
    layer = _compiled_layer(
        tables,
        {"carried": carried, "grad_left_weight": grad_left_weight},
        grad_hidden=grads.hidden.contiguous(),
        grad_cell=grad_cell,
        grad_gates=gates,
        grad_lower=grad_lower,
    )
    starts = layer.starts
    for s, weight in enumerate(tables.parameters.weight_hh):
        recurrent: Optional[Tensor] = None
        for t in reversed(range(tables.first_step, len(sizes))):
            left = starts[t - 1] if t > 0 else None
            layer.run("lstm_backward", s, t, left, recurrent)
            if t > tables.first_step:
                rows = slice(starts[t], starts[t + 1])
                grad_recurrent = gates[s, rows, : tables.recurrent_width]  # (n, R)
                recurrent = backend.products.linear(grad_recurrent, weight.t())  # (n, H)
    if grads.left_weight is not None:
        grads.left_weight.add_(grad_left_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.copy_(carried)


def _compiled_layer(
    tables: LayerTables,
    of_directions: Optional[dict[str, Tensor]] = None,
    **of_tokens: Optional[Tensor],
) -> GatedLayer:
    """Return the compiled steps over a layer's tables.

    `of_directions` and `of_tokens` are the tables of the backward pass, as in `GatedLayer`.
    """
    S, _, H = tables.cell.shape
    ones = tables.cell.new_ones(S, 1, H)
    left_weight = ones * tables.parameters.left_weight
    peephole = tables.parameters.peephole_left
    if peephole is not None:
        peephole = peephole.contiguous()
    vectors = {"left_weight": left_weight.contiguous(), "peephole": peephole}
    vectors.update(of_directions or {})
    return GatedLayer(
        tables.sizes,
        tables.cell,
        vectors,
        x=tables.gates,
        gates=tables.gates,
        lower=tables.x.lower,
        hidden=tables.hidden,
        cell=tables.cell,
        **of_tokens,
    )


def _forward_eager(backend: Backend, tables: LayerTables) -> None:
    """Run the steps as operations of torch."""
    sizes = tables.sizes
    S, _, H = tables.hidden.shape
    R = tables.recurrent_width
    left_weight = tables.parameters.left_weight
    peephole = tables.parameters.peephole_left
    weights = backend.products.side_by_side(tables.parameters.weight_hh)
    buffer = tables.gates.new_empty(S, sizes[0], H)
    gates_at = steps(tables.gates, sizes)
    hidden_at = steps(tables.hidden, sizes)
    cell_at = steps(tables.cell, sizes)
    lower_at = None
    if tables.x.lower is not None:
        lower_at = steps(tables.x.lower, sizes)
    for t in range(tables.first_step, len(sizes)):
        n = sizes[t]
        a = gates_at[t]  # (S, n, GH)
        c = cell_at[t]  # (S, n, H)
        i, f, g, o = a[..., : 4 * H].chunk(4, -1)
        if t > 0:
            left_hidden = hidden_at[t - 1][:, :n]  # (S, n, H), as is the next
            left_cell = cell_at[t - 1][:, :n]
            backend.products.add_products(a[..., :R], left_hidden, weights)
            if peephole is not None:
                a[..., R:].addcmul_(left_cell, peephole)
        g.mul_(2)
        a.sigmoid_()
        sigmoid_to_tanh(g)
        torch.mul(i, g, out=c)
        if t > 0:
            if isinstance(left_weight, float):
                c.addcmul_(f, left_cell, value=left_weight)
            else:
                c.addcmul_(f, left_cell * left_weight)
        if lower_at is not None:
            v = a[..., 4 * H :]
            c.addcmul_(v, lower_at[t])
        tanh_cell = backend.tanh(c, out=buffer[:, :n])
        torch.mul(o, tanh_cell, out=hidden_at[t])


def _backward_eager(
    backend: Backend,
    tables: LayerTables,
    grads: LayerGradients,
) -> None:
    """Run the derivatives of the steps as operations of torch, from the last to the first."""
    sizes = tables.sizes
    factors = _factors(backend, tables, grads.left_weight is not None)
    transposed = [weight.t() for weight in tables.parameters.weight_hh]
    weights = backend.products.side_by_side(transposed)
    grad_hidden = grads.hidden.clone(memory_format=torch.contiguous_format)
    grad_hidden_at = steps(grad_hidden, sizes)
    grad_cell_at = steps(factors.grad_cell, sizes)
    outer_cell_at = None
    if grads.cell is not None:
        outer_cell_at = steps(grads.cell, sizes)
    gates_at = steps(tables.gates, sizes)
    by_cell_at = steps(factors.by_cell, sizes)
    by_left_cell_at = steps(factors.by_left_cell, sizes)
    for t in reversed(range(tables.first_step, len(sizes))):
        dh = grad_hidden_at[t]  # (S, n, H), as is the next
        dc = grad_cell_at[t]
        n_after = sizes[t + 1] if t + 1 < len(sizes) else 0
        if n_after:
            recurrent = gates_at[t + 1][..., : tables.recurrent_width]
            backend.products.add_products(dh[:, :n_after], recurrent, weights)
        if outer_cell_at is None:
            torch.mul(dh, by_cell_at[t], out=dc)
        else:
            torch.addcmul(outer_cell_at[t], dh, by_cell_at[t], out=dc)
        if n_after:
            dc[:, :n_after].addcmul_(grad_cell_at[t + 1], by_left_cell_at[t + 1])
        _multiply_gates(gates_at[t], dh, dc)
    if grads.lower is not None:
        torch.mul(factors.by_lower, factors.grad_cell, out=grads.lower)
    if grads.left_weight is not None:
        by_row = factors.by_left_weight.mul_(factors.grad_cell)
        by_weight = by_row[:, tables.first_row :]
        grads.left_weight.add_(by_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.zero_()
        if len(sizes) > 1:
            at_first = grads.initial_cell[:, : sizes[1]]
            torch.mul(grad_cell_at[1], by_left_cell_at[1], out=at_first)


def _multiply_gates(
    factors: Tensor,
    dh: Tensor,
    dc: Tensor,
) -> None:
    """Turn the factors (S, n, GH) of the gates' arguments into their gradients, in place.

    `dh` and `dc` (S, n, H) are the gradients of h and c.
    """
    S, n, H = dh.shape
    blocks = factors.view(S, n, -1, H)
    blocks[:, :, :3].mul_(dc.unsqueeze(2))  # i, f and g
    blocks[:, :, 3].mul_(dh)  # o
    if blocks.size(2) > 4:
        blocks[:, :, 4].mul_(dc)  # v


class _Factors(NamedTuple):
    """Derivatives that do not depend on the gradients from outside, (S, N, H) each.

    - `by_cell`: dh_t / dc_t;
    - `by_left_cell`: dc_t / dc_{t-1};
    - `by_lower`: the derivative of c_t by the cell of the layer below; `None` without one;
    - `by_left_weight`: dc_t / d(left weight); `None` if it is not needed.

    `grad_cell` is a buffer for the gradient of c_t.
    """

    by_cell: Tensor
    by_left_cell: Tensor
    by_lower: Any
    by_left_weight: Any
    grad_cell: Tensor


def _factors(
    backend: Backend,
    tables: LayerTables,
    with_left_weight: bool,
) -> _Factors:
    """Turn each gate into the derivative of c (for o, of h) by its argument, in place.

    Its product with the gradient of c (of h) is the gradient of the argument. Return the other
    factors. `with_left_weight` says if `by_left_weight` is needed.
    """
    h = tables.hidden
    H = h.size(-1)
    i, f, g, o = tables.gates[..., : 4 * H].chunk(4, -1)
    v = tables.gates[..., 4 * H :]
    by_left_cell = f * tables.parameters.left_weight
    by_forget = [f]
    by_left_weight = None
    if with_left_weight:
        by_left_weight = f.clone()
        by_forget.append(by_left_weight)
    tanh_cell = backend.tanh(tables.cell)
    by_cell = torch.addcmul(o, h, tanh_cell, value=-1, out=tanh_cell)  # o * (1 - tanh(c)^2)
    buffer = torch.mul(i, g)
    torch.addcmul(i, buffer, g, value=-1, out=g)  # i * (1 - g * g)
    torch.addcmul(buffer, buffer, i, value=-1, out=i)  # i * (1 - i) * g
    torch.addcmul(by_left_cell, by_left_cell, f, value=-1, out=f)
    torch.addcmul(h, h, o, value=-1, out=o)  # o * (1 - o) * tanh(c)
    left_cell = tables.packing.previous(tables.cell)
    second = tables.packing.num_sentences  # the first row of the second step
    for factor in by_forget:
        factor[:, :second] = 0  # the first step has no cell before it
        factor[:, second:].mul_(left_cell)
    by_lower = None
    if tables.x.lower is not None:
        by_lower = v.clone()
        torch.addcmul(v, v, v, value=-1, out=v)
        v.mul_(tables.x.lower)  # v * (1 - v) * c'
    if tables.parameters.peephole_left is not None:
        by_left_cell.addcmul_(v, tables.parameters.peephole_left)
    return _Factors(by_cell, by_left_cell, by_lower, by_left_weight, buffer)


#: By the name of a backend.
STEPS = {
    "cpu": Steps(_forward_compiled, _backward_compiled),
    "eager": Steps(_forward_eager, _backward_eager),
}
