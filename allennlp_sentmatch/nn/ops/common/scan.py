"""A loop over steps that `torch.export` can record for any number of steps."""

from collections.abc import Sequence
from typing import Any, Callable

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.execution import is_exporting

Tensors = tuple[Tensor, ...]

#: The state after a step and its outputs. It has a name because `torch.compile` cannot evaluate
#: `tuple[...]` in the annotations of a nested function.
StepResult = tuple[Tensors, Tensors]


def scan(
    step: Callable[[Tensors, Tensors], StepResult],
    initial: Tensors,
    inputs: Sequence[Tensor],
) -> StepResult:
    """Run `state, outputs = step(state, inputs)` for each of T steps.

    Each of the inputs has the shape (T, ...); a step gets slices without the first dimension. It
    must not write to tensors, and the state must keep its shapes. Return the last state and the
    outputs, (T, ...) each.
    """
    if is_exporting():
        return _record(step, initial, inputs)
    if not len(inputs[0]):
        # A step over zeros, which are empty sums, gives the shapes and the gradients' graph.
        zeros = tuple(x.sum(0).to(x.dtype) for x in inputs)
        _, outputs = step(initial, zeros)
        no_outputs = tuple(x.unsqueeze(0)[:0] for x in outputs)
        return initial, no_outputs
    state = initial
    by_step = []
    for at_step in zip(*inputs):
        state, outputs = step(state, at_step)
        by_step.append(outputs)
    all_outputs = tuple(map(torch.stack, zip(*by_step)))
    return state, all_outputs


def _record(
    step: Any,
    initial: Tensors,
    inputs: Sequence[Tensor],
) -> StepResult:
    # The loop is a prototype in torch 2.13, without a public name.
    from torch._higher_order_ops.scan import scan as record

    # It accepts no tensor twice, in arguments or in results.
    def without_aliases(state: Tensors, at_step: Tensors) -> StepResult:
        state, outputs = step(state, at_step)
        return state, tuple(x.clone() for x in outputs)

    start = tuple(x.clone() for x in initial)
    result: StepResult = record(without_aliases, start, tuple(inputs))
    return result
