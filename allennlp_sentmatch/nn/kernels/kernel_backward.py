"""What the backward pass of every kernel needs."""

from functools import wraps
from typing import Any, Callable

import torch

from allennlp_sentmatch.nn.autocast import without_autocast


def kernel_backward(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Let a `backward` refuse to be differentiated, and compute in its forward pass's precision.

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
        # Somebody may call it under autocast. Without a gradient there are no products.
        device = next((x.device for x in gradients if x is not None), torch.device("cpu"))
        with without_autocast(device):
            return backward(ctx, *gradients)

    return checked
