"""Functions with an analytic backward pass."""

from collections.abc import Sequence
from typing import Any, Callable, Optional

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_unflatten

from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.common.execution import is_transformed

#: The gradients of several tensors; `None` if there is none or none is needed.
Gradients = tuple[Optional[Tensor], ...]


def differentiable(
    forward: Callable[..., tuple[Any, Any]],
    backward: Callable[..., Any],
    fixed: tuple[Any, ...],
    arguments: Any,
) -> Any:
    """Call a function of tensors, without autocast, with `backward` as its derivative.

    `forward(*fixed, arguments, keep)` returns the outputs, a tensor or a tuple of tensors, and
    further values for `backward`, which are ignored unless `keep` is true.

    `backward(*fixed, arguments, kept, gradients, needed)` returns the gradients of `arguments` from
    the `gradients` of the outputs, which may be `None`. `needed` says which gradients are needed;
    the others may be anything. `needed` and the result have the structure of `arguments`. The
    arguments, and the values that `forward` keeps, are tensors and other values in tuples, named
    tuples and lists. `fixed` is not differentiated.
    """
    leaves, form = tree_flatten(arguments)
    if torch.is_grad_enabled() and any(x.requires_grad for x in leaves if _is_tensor(x)):
        return _Analytic.apply(  # type: ignore[no-untyped-call]
            forward, backward, fixed, form, *leaves
        )
    with without_autocast(_device_of(leaves)):
        outputs, _ = forward(*fixed, arguments, False)
    return outputs


def _is_tensor(x: object) -> bool:
    return isinstance(x, Tensor)


def _device_of(leaves: Sequence[Any]) -> torch.device:
    first: Tensor = next(filter(_is_tensor, leaves))
    return first.device


class _Analytic(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        forward: Any,
        backward: Any,
        fixed: Any,
        form: Any,
        *leaves: Any,
    ) -> Any:
        ctx.backward = backward
        ctx.fixed = fixed
        ctx.form = form
        ctx.device = _device_of(leaves)
        with without_autocast(ctx.device):
            outputs, kept = forward(*fixed, tree_unflatten(list(leaves), form), True)
        of_kept, ctx.form_of_kept = tree_flatten(kept)
        saved = (*leaves, *of_kept)
        ctx.save_for_backward(*(x if _is_tensor(x) else None for x in saved))
        ctx.constants = [None if _is_tensor(x) else x for x in saved]
        ctx.set_materialize_grads(False)
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        # `torch.autograd.function.once_differentiable` raises an error only if the incoming
        # gradient has a graph. Otherwise, its result is a constant for autograd, and a penalty on
        # this gradient would silently have no effect. create_graph=True enables gradients in a
        # backward pass; vectorize=True calls it by vmap.
        if torch.is_grad_enabled() or any(x is not None and is_transformed(x) for x in gradients):
            raise RuntimeError(
                "This encoder's backward pass has no derivative itself and takes no batch of "
                'gradients. Call the encoder within `allennlp_sentmatch.nn.use_backend("naive")` '
                "to backpropagate with create_graph=True or is_grads_batched=True."
            )
        if all(x is None for x in gradients):
            return (None,) * len(ctx.needs_input_grad)
        saved = [y if x is None else x for x, y in zip(ctx.saved_tensors, ctx.constants)]
        is_needed = ctx.needs_input_grad[4:]
        num_leaves = len(is_needed)
        arguments = tree_unflatten(saved[:num_leaves], ctx.form)
        kept = tree_unflatten(saved[num_leaves:], ctx.form_of_kept)
        needed = tree_unflatten(list(is_needed), ctx.form)
        with without_autocast(ctx.device):  # it may be called under autocast
            result = ctx.backward(*ctx.fixed, arguments, kept, gradients, needed)
        grads, _ = tree_flatten(result)
        needed_grads = [x if is_for else None for x, is_for in zip(grads, is_needed)]
        return (None, None, None, None, *needed_grads)


def zero_of(*tensors: Tensor) -> Tensor:
    """Return zero, a scalar, with a gradient of zeros for tensors that a batch does not use.

    Without one, distributed training would wait for their gradients.
    """
    return torch.cat([x.flatten()[:0] for x in tensors]).sum()


def writable(saved: Tensor) -> Tensor:
    """Return a tensor of the same values that a backward pass may write to.

    If the graph is freed afterwards, this is `saved` itself, which only the forward and the
    backward pass use; with `retain_graph=True`, it is a copy. On a CPU, allocating a large tensor
    takes longer than the arithmetic that fills it.
    """
    # torch's compiled backward passes do the same check before overwriting their inputs.
    keeps_graph: Any = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", None)
    if keeps_graph is None or keeps_graph():
        return saved.clone()
    return saved
