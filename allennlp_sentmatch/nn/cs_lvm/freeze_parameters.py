"""Freezing modules while a gradient passes through them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def freeze_parameters(*modules: torch.nn.Module) -> Iterator[None]:
    """Freeze the parameters of `modules` for what is computed inside the context.

    The gradient still passes through the modules to their inputs. The training mode does not
    change, because cuDNN's recurrent networks can only be differentiated in training mode.
    """
    parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
    for parameter in parameters:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)
