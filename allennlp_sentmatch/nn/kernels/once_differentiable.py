"""A guard for backward passes that cannot be differentiated themselves."""

from functools import wraps
from typing import Any, Callable

import torch


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Let a `backward` that has no derivative of its own refuse to be asked for one.

    `torch.autograd.function.once_differentiable` complains only where the incoming gradient has a
    graph itself. Where it has none, it returns a gradient that is a constant to autograd, and a
    penalty on that gradient would silently train nothing.
    """

    @wraps(backward)
    def checked(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():  # which is what create_graph=True makes of a backward pass
            raise RuntimeError(
                "This encoder's kernel has no second derivative. Call the encoder within "
                "`allennlp_sentmatch.nn.fast_paths.fast_paths(False)` to backpropagate with "
                "create_graph=True."
            )
        return backward(ctx, *gradients)

    return checked
