r"""A layer of an LSTM or a CAS-LSTM over packed sentences, and its derivative.

W x + b is one product over all steps. A step, forward or backward, is one more product and an
element-wise part, both on rows side by side; no autograd graph is built. The backward pass
overwrites the gates with the gradients of their arguments; then the gradients of x, W and U are
one product each over all steps.

The steps have two implementations, each forward and backward:

- compiled for CPUs, the element-wise part is one pass over memory;
- "eager", it is operations of torch, in place. In the backward pass, the derivatives that do not
  depend on the gradients from outside are computed for several steps at once, a chunk. Then a step
  is a product and a few element-wise operations. Only the gates have a table of all steps; the
  other derivatives, and tanh(c), are computed chunk by chunk. The system would hand out the memory
  of further tables of all steps page by page.

Tables of N tokens in S directions have a row for each token, step by step as in `Packing`.
"""

from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.naive import LayerWeights
from allennlp_sentmatch.nn.ops.common.activations import MINUS_ONE
from allennlp_sentmatch.nn.ops.common.autograd import Gradients, differentiable, writable
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedLayer
from allennlp_sentmatch.nn.ops.common.native import num_threads
from allennlp_sentmatch.nn.ops.common.packing import Packing, steps
from allennlp_sentmatch.nn.ops.common.products import stack

#: Each chunk except the last one of a batch has at least this many rows.
ROWS_PER_CHUNK = 512


class LayerParameters(NamedTuple):
    """The parameters of a layer's S directions; vectors side by side, (S, GH) or (S, 1, H)."""

    weight_ih: Sequence[Any]  # not stacked, which would be a copy: (GH, D) each
    weight_hh: Sequence[Any]  # (R, H) each
    bias: Any
    left_weight: Any  # or a number
    peephole_left: Any  # or `None`, as is the next
    peephole_lower: Any


class LayerInputs(NamedTuple):
    """The inputs of a layer of H units over N tokens of B sentences in S directions."""

    inputs: Any  # (S, N, D)
    lower: Any  # (S, N, H): the weighted cells of the layer below; `None` without one
    #: h and c before the first token, (S, B, H) each; zero if `None`. They take the place of the
    #: packing's first step, whose inputs are not read; the gradients of its outputs must be zero.
    initial_hidden: Any
    initial_cell: Any


class LayerTables(NamedTuple):
    """The tables that the steps read and write."""

    sizes: list[int]  # the number of rows of each step
    x: LayerInputs
    parameters: LayerParameters
    #: (S, N, GH), with G = 4 or 5: the gates [i; f; g; o; v]. The forward pass finds in it W x + b
    #: (with peepholes, v also has peephole_lower * lower), the backward pass leaves in it the
    #: gradients of the gates' arguments.
    gates: Tensor
    hidden: Tensor  # (S, N, H): h
    cell: Tensor  # (S, N, H): c

    @property
    def first_step(self) -> int:
        """Return the first step to run: 1 if the rows of step 0 hold the initial states."""
        return 0 if self.x.initial_hidden is None else 1

    @property
    def recurrent_width(self) -> int:
        """Return R, the number of columns of the gates to which U h is added."""
        rows: int = self.parameters.weight_hh[0].size(0)
        return rows


class LayerGradients(NamedTuple):
    """The gradients of a layer's outputs, and buffers for the gradients of its arguments."""

    hidden: Tensor  # (S, N, H): of h, from outside
    cell: Optional[Tensor]  # (S, N, H): of c, from outside
    #: (S, N, H): to be filled with the gradient of `lower`, without what passes through a peephole.
    lower: Optional[Tensor]
    left_weight: Optional[Tensor]  # (S, 1, H): zeros, to which its gradient is added
    #: (S, B, H): to be filled with the gradient of the initial c.
    initial_cell: Optional[Tensor]


class Steps(NamedTuple):
    """The steps of a layer by one backend.

    `forward` turns W x + b into the gates, and computes h and c. `backward` turns the gates into
    the gradients of their arguments, and fills the buffers of the gradients.
    """

    forward: Callable[[Backend, LayerTables], None]
    backward: Callable[[Backend, LayerTables, LayerGradients], None]


def lstm_layer(
    backend: Backend, packing: Packing, x: LayerInputs, directions: Sequence[LayerWeights]
) -> tuple[Tensor, Tensor]:
    """Run a layer by one of `STEPS`; return h and c, both (S, N, H)."""
    weight_ih, weight_hh, bias, left, lower, peephole_left, peephole_lower = zip(*directions)
    if x.lower is not None:
        x = x._replace(lower=x.lower * _side_by_side(lower))
    parameters = LayerParameters(
        weight_ih=list(weight_ih),
        weight_hh=list(weight_hh),
        bias=stack(bias),
        left_weight=_side_by_side(left),
        peephole_left=_side_by_side(peephole_left),
        peephole_lower=_side_by_side(peephole_lower),
    )
    states: tuple[Tensor, Tensor] = differentiable(
        _forward, _backward, (backend, packing), (x, parameters)
    )
    return states


def _side_by_side(vectors: Sequence[Any]) -> Any:
    """Stack vectors (H) of S directions, (S, 1, H); a number or `None` is the same in all."""
    if isinstance(vectors[0], Tensor):
        return stack(vectors).unsqueeze(1)
    return vectors[0]


def _forward(
    backend: Backend, packing: Packing, arguments: tuple[LayerInputs, LayerParameters], keep: bool
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, ...]]:
    """Return h and c, (S, N, H) each; and the tables for `_backward`."""
    x, parameters = arguments
    S, N, _ = x.inputs.shape
    R, H = parameters.weight_hh[0].shape
    gates = backend.products.affine(x.inputs, parameters.weight_ih, parameters.bias)
    if parameters.peephole_lower is not None:
        gates[..., R:].addcmul_(x.lower, parameters.peephole_lower)
    hidden, cell = gates.new_empty(2, S, N, H)
    if x.initial_hidden is not None:
        first = packing.num_sentences
        hidden[:, :first] = x.initial_hidden
        cell[:, :first] = x.initial_cell
    if N > 0:
        tables = LayerTables(packing.sizes, x, parameters, gates, hidden, cell)
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
    """Return the gradients of the arguments of `_forward`."""
    x, parameters = arguments
    needed_inputs, needed_parameters = needed
    gates, hidden, cell = kept
    # The steps overwrite the gates with the gradients of their arguments.
    tables = LayerTables(packing.sizes, x, parameters, writable(gates), hidden, cell)
    grads = _new_gradients(tables, gradients, needed)
    if hidden.size(1) > 0:
        STEPS[backend.name].backward(backend, tables, grads)
    if x.initial_hidden is not None:  # no step was run for these rows
        first = packing.num_sentences
        tables.gates[:, :first] = 0
        if grads.lower is not None:
            grads.lower[:, :first] = 0
    if grads.lower is not None and parameters.peephole_lower is not None:
        grad_v = tables.gates[..., tables.recurrent_width :]  # (S, N, H)
        grads.lower.addcmul_(grad_v, parameters.peephole_lower)
    by_inputs = None
    if needed_inputs.inputs:
        by_inputs = backend.products.input_gradient(parameters.weight_ih, tables.gates)
    by_initial = None
    if needed_inputs.initial_hidden:
        by_initial = _initial_gradient(backend, packing, tables)
    return (
        LayerInputs(by_inputs, grads.lower, by_initial, grads.initial_cell),
        _parameter_gradients(backend, packing, tables, grads, needed_parameters),
    )


def _new_gradients(
    tables: LayerTables, gradients: Gradients, needed: tuple[LayerInputs, LayerParameters]
) -> LayerGradients:
    """Make the buffers that the steps of a backward pass fill."""
    x = tables.x
    left_weight = tables.parameters.left_weight
    needed_inputs, needed_parameters = needed
    grad_hidden, grad_cell = gradients
    return LayerGradients(
        hidden=torch.zeros_like(tables.hidden) if grad_hidden is None else grad_hidden,
        cell=grad_cell,
        lower=torch.empty_like(x.lower) if needed_inputs.lower else None,
        left_weight=torch.zeros_like(left_weight) if needed_parameters.left_weight else None,
        initial_cell=torch.empty_like(x.initial_cell) if needed_inputs.initial_cell else None,
    )


def _initial_gradient(backend: Backend, packing: Packing, tables: LayerTables) -> Tensor:
    """Return the gradient (S, B, H) of h before the first token, from the second step's gates."""
    gradient = torch.zeros_like(tables.x.initial_hidden)
    if len(packing.sizes) > 1:
        n = packing.sizes[1]
        start = packing.num_sentences  # the first row of the second step
        recurrent = tables.gates[:, start : start + n, : tables.recurrent_width]
        weight_hh = tables.parameters.weight_hh
        gradient[:, :n] = backend.products.input_gradient(weight_hh, recurrent)
    return gradient


def _parameter_gradients(
    backend: Backend,
    packing: Packing,
    tables: LayerTables,
    grads: LayerGradients,
    needed: LayerParameters,
) -> LayerParameters:
    """Return the gradients of a layer's parameters from the gradients of the gates' arguments."""
    products = backend.products
    grad_gates = tables.gates
    R = tables.recurrent_width
    H = tables.hidden.size(-1)
    second = packing.num_sentences  # the first row of the second step
    grad_v = grad_gates[..., 4 * H :]  # (S, N, H), or without columns
    by_weight_ih: Sequence[Any] = [None] * len(grad_gates)
    if any(needed.weight_ih):
        by_weight_ih = products.weight_gradients(tables.x.inputs, grad_gates)
    by_weight_hh: Sequence[Any] = [None] * len(grad_gates)
    if any(needed.weight_hh):
        left = packing.previous(tables.hidden)
        by_weight_hh = products.weight_gradients(left, grad_gates[:, second:, :R])
    by_left = None
    if needed.peephole_left:
        left_cell = packing.previous(tables.cell)
        by_left = (grad_v[:, second:] * left_cell).sum(1, keepdim=True)
    by_lower = None
    if needed.peephole_lower:
        by_lower = (grad_v * tables.x.lower).sum(1, keepdim=True)
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
    sizes = tables.sizes
    layer = _compiled_layer(tables)
    starts = layer.starts
    for s, weight_hh in enumerate(tables.parameters.weight_hh):
        hidden = tables.hidden[s]
        weight = backend.products.prepacked(weight_hh)
        for t in range(tables.first_step, len(sizes)):
            left: Optional[int] = None
            recurrent: Optional[Tensor] = None
            if t > 0:
                left = starts[t - 1]
                recurrent = backend.products.linear(hidden[left : left + sizes[t]], weight)
            layer.run("lstm_forward", s, t, left, recurrent)


def _backward_compiled(backend: Backend, tables: LayerTables, grads: LayerGradients) -> None:
    """Run the derivatives of the steps compiled for CPUs, from the last to the first."""
    sizes = tables.sizes
    gates = tables.gates
    S, _, H = tables.hidden.shape
    grad_lower = grads.lower
    if grad_lower is None and tables.x.lower is not None:
        grad_lower = torch.empty_like(tables.x.lower)  # always written, if not needed
    # The gradients of the cells from the step after.
    carried = gates.new_zeros(S, sizes[0], H)
    grad_left_weight = gates.new_zeros(S, num_threads(), H)
    layer = _compiled_layer(
        tables,
        {"carried": carried, "grad_left_weight": grad_left_weight},
        grad_hidden=grads.hidden.contiguous(),
        grad_cell=None if grads.cell is None else grads.cell.contiguous(),
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
                after = gates[s, starts[t] : starts[t + 1], : tables.recurrent_width]
                recurrent = backend.products.linear(after, weight.t())  # (n, H)
    if grads.left_weight is not None:
        grads.left_weight.add_(grad_left_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.copy_(carried)


def _compiled_layer(
    tables: LayerTables,
    of_directions: Optional[dict[str, Tensor]] = None,
    **of_tokens: Optional[Tensor],
) -> GatedLayer:
    """Return the compiled steps over a layer's tables and the tables of its backward pass."""
    S, _, H = tables.cell.shape
    ones = tables.cell.new_ones(S, 1, H)
    peephole = tables.parameters.peephole_left
    vectors = {
        "left_weight": (ones * tables.parameters.left_weight).contiguous(),
        "lower_weight": ones,
        "peephole": None if peephole is None else peephole.contiguous(),
    }
    return GatedLayer(
        tables.sizes,
        tables.cell,
        {**vectors, **(of_directions or {})},
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
    lower_at = None if tables.x.lower is None else steps(tables.x.lower, sizes)
    for t in range(tables.first_step, len(sizes)):
        n = sizes[t]
        a = gates_at[t]  # (S, n, GH)
        c = cell_at[t]  # (S, n, H)
        i, f, g, o = a[..., : 4 * H].chunk(4, -1)
        if t > 0:
            left_cell = cell_at[t - 1][:, :n]
            backend.products.add_products(a[..., :R], hidden_at[t - 1][:, :n], weights)
            if peephole is not None:
                a[..., R:].addcmul_(left_cell, peephole)
        g.mul_(2)
        a.sigmoid_()
        torch.add(MINUS_ONE, g, alpha=2, out=g)  # tanh(x) = 2 sigmoid(2x) - 1
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


def _backward_eager(backend: Backend, tables: LayerTables, grads: LayerGradients) -> None:
    """Run the derivatives of the steps as operations of torch, from the last to the first."""
    weights = backend.products.side_by_side([x.t() for x in tables.parameters.weight_hh])
    after: Optional[_StepGradients] = None
    for chunk in reversed(_chunks(tables.sizes, tables.first_step)):
        factors = _factors(backend, tables, chunk, grads.left_weight is not None)
        after = _backward_of_chunk(backend, tables, grads, chunk, factors, weights, after)
        if grads.lower is not None:
            torch.mul(factors.by_lower, factors.grad_cell, out=grads.lower[:, chunk.rows])
        if grads.left_weight is not None:
            by_weight = factors.by_left_weight.mul_(factors.grad_cell)
            grads.left_weight.add_(by_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.zero_()
        if after is not None:
            n = after.grad_cell.size(1)
            torch.mul(after.grad_cell, after.by_left_cell, out=grads.initial_cell[:, :n])


class _Chunk(NamedTuple):
    """Steps that are next to each other."""

    first: int  # the first step
    sizes: list[int]
    rows: slice


class _Factors(NamedTuple):
    """Derivatives that do not depend on the gradients from outside, (S, rows of a chunk, H)."""

    by_cell: Tensor  # dh_t / dc_t
    by_left_cell: Tensor  # dc_t / dc_{t-1}
    by_lower: Any  # dc_t / dc_t of the layer below; `None` without one
    by_left_weight: Any  # dc_t / d(left weight); `None` if it is not needed
    grad_cell: Tensor  # a buffer for the gradient of c_t


class _StepGradients(NamedTuple):
    """The gradients that the backward pass of a step passes to the step before it."""

    grad_gates: Tensor  # (S, n, GH)
    grad_cell: Tensor  # (S, n, H)
    by_left_cell: Tensor  # (S, n, H): of its c, by c of the step before


def _backward_of_chunk(
    backend: Backend,
    tables: LayerTables,
    grads: LayerGradients,
    chunk: _Chunk,
    factors: _Factors,
    weights: Any,
    after: Optional[_StepGradients],
) -> Optional[_StepGradients]:
    """Run the derivatives of a chunk's steps; return the first one's.

    `weights` are the transposes of U side by side, and `after` is from the step after the chunk.
    """
    outer_hidden = grads.hidden[:, chunk.rows]
    grad_hidden = outer_hidden.clone(memory_format=torch.contiguous_format)
    grad_hidden_at = steps(grad_hidden, chunk.sizes)
    grad_cell_at = steps(factors.grad_cell, chunk.sizes)
    gates_at = steps(tables.gates[:, chunk.rows], chunk.sizes)
    by_cell_at = steps(factors.by_cell, chunk.sizes)
    by_left_cell_at = steps(factors.by_left_cell, chunk.sizes)
    outer_cell_at: Optional[Sequence[Tensor]] = None
    if grads.cell is not None:
        outer_cell_at = steps(grads.cell[:, chunk.rows], chunk.sizes)
    for t in reversed(range(len(chunk.sizes))):
        dh = grad_hidden_at[t]  # (S, n, H), as is the next
        dc = grad_cell_at[t]
        if after is not None:
            n_after = after.grad_cell.size(1)
            recurrent = after.grad_gates[..., : tables.recurrent_width]
            backend.products.add_products(dh[:, :n_after], recurrent, weights)
        if outer_cell_at is None:
            torch.mul(dh, by_cell_at[t], out=dc)
        else:
            torch.addcmul(outer_cell_at[t], dh, by_cell_at[t], out=dc)
        if after is not None:
            dc[:, :n_after].addcmul_(after.grad_cell, after.by_left_cell)
        _multiply_gates(gates_at[t], dh, dc)
        after = _StepGradients(gates_at[t], dc, by_left_cell_at[t])
    return after


def _multiply_gates(factors: Tensor, dh: Tensor, dc: Tensor) -> None:
    """Turn the factors (S, n, GH) of the gates' arguments into their gradients."""
    S, n, H = dh.shape
    blocks = factors.view(S, n, -1, H)
    blocks[:, :, :3].mul_(dc.unsqueeze(2))  # i, f and g
    blocks[:, :, 3].mul_(dh)  # o
    if blocks.size(2) > 4:
        blocks[:, :, 4].mul_(dc)  # v


def _factors(
    backend: Backend, tables: LayerTables, chunk: _Chunk, with_left_weight: bool
) -> _Factors:
    """Turn each gate into the derivative of c (for o, of h) by its argument.

    Its product with the gradient of c (of h) is the gradient of the argument.
    """
    h = tables.hidden[:, chunk.rows]
    H = h.size(-1)
    a = tables.gates[:, chunk.rows]
    i, f, g, o = a[..., : 4 * H].chunk(4, -1)
    v = a[..., 4 * H :]
    by_left_cell = f * tables.parameters.left_weight
    by_left_weight = f.clone() if with_left_weight else None
    tanh_cell = backend.tanh(tables.cell[:, chunk.rows])
    by_cell = torch.addcmul(o, h, tanh_cell, value=-1, out=tanh_cell)  # o * (1 - tanh(c)^2)
    buffer = torch.mul(i, g)
    torch.addcmul(i, buffer, g, value=-1, out=g)  # i * (1 - g * g)
    torch.addcmul(buffer, buffer, i, value=-1, out=i)  # i * (1 - i) * g
    torch.addcmul(by_left_cell, by_left_cell, f, value=-1, out=f)
    torch.addcmul(h, h, o, value=-1, out=o)  # o * (1 - o) * tanh(c)
    _multiply_left_cells(f, tables, chunk)
    if by_left_weight is not None:
        _multiply_left_cells(by_left_weight, tables, chunk)
    by_lower = None
    if tables.x.lower is not None:
        by_lower = v.clone()
        torch.addcmul(v, v, v, value=-1, out=v).mul_(tables.x.lower[:, chunk.rows])
    if tables.parameters.peephole_left is not None:
        by_left_cell.addcmul_(v, tables.parameters.peephole_left)
    return _Factors(by_cell, by_left_cell, by_lower, by_left_weight, buffer)


def _multiply_left_cells(rows: Tensor, tables: LayerTables, chunk: _Chunk) -> None:
    """Multiply a chunk's rows (S, rows, H) by the cells of the step before, zero at first."""
    cell_at = steps(tables.cell, tables.sizes)
    for t, x in enumerate(steps(rows, chunk.sizes), chunk.first):
        if t == 0:
            x.zero_()
        else:
            x.mul_(cell_at[t - 1][:, : x.size(1)])


def _chunks(sizes: list[int], first: int) -> list[_Chunk]:
    """Group the steps from `first` on."""
    chunks = []
    start = sum(sizes[:first])
    num_rows = 0
    for t in range(first, len(sizes)):
        num_rows += sizes[t]
        is_last = t + 1 == len(sizes)
        if num_rows >= ROWS_PER_CHUNK or is_last:
            end = start + num_rows
            chunks.append(_Chunk(first, sizes[first : t + 1], slice(start, end)))
            first = t + 1
            start = end
            num_rows = 0
    return chunks


#: By the name of a backend.
STEPS = {
    "cpu": Steps(_forward_compiled, _backward_compiled),
    "eager": Steps(_forward_eager, _backward_eager),
}
