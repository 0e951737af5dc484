"""Helpers of `torch.autograd.Function`s with an analytic backward pass."""

from functools import wraps
from typing import Any, Callable

import torch

from allennlp_sentmatch.nn.ops.common.autocast import without_autocast


def analytic_backward(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Let a `backward` refuse to be differentiated, and leave autocast.

    `torch.autograd.function.once_differentiable` complains only where the incoming gradient has a
    graph itself. Where it has none, it returns a gradient that is a constant to autograd, and a
    penalty on that gradient would silently train nothing.
    """

    @wraps(backward)
    def checked(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():  # which is what create_graph=True makes of a backward pass
            raise RuntimeError(
                "This encoder's backward pass has no derivative itself. Call the encoder within "
                '`allennlp_sentmatch.nn.use_backend("naive")` to backpropagate with '
                "create_graph=True."
            )
        # It may be called under autocast. Without a gradient it has no products.
        device = next((x.device for x in gradients if x is not None), torch.device("cpu"))
        with without_autocast(device):
            return backward(ctx, *gradients)

    return checked


def writable(saved: torch.Tensor) -> torch.Tensor:
    """A tensor of the same values that a backward pass may write to.

    It is `saved` itself, a tensor that only the forward and the backward pass know, if the graph is
    freed afterwards; with `retain_graph=True` it is a copy. Large new tensors cost a
    CPU more than the arithmetic that fills them: the system hands out their memory page by page.
    """
    # torch's own compiled backward passes ask the same before they overwrite their inputs.
    keeps_graph: Any = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", None)
    if keeps_graph is None or keeps_graph():
        return saved.clone()
    return saved
