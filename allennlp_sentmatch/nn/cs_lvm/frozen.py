"""Letting a gradient pass through modules without reaching their parameters."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def frozen(*modules: torch.nn.Module) -> Iterator[None]:
    """What is computed inside gives no gradient to the parameters of `modules`.

    The gradient still passes through them to their inputs. The training mode is left alone,
    because cuDNN's recurrent networks can only be differentiated in training mode.
    """
    parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
    for parameter in parameters:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)
