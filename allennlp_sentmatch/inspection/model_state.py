"""Borrowing a model without a trace."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def left_as_it_was(model: torch.nn.Module) -> Iterator[None]:
    """Have a model in evaluation mode for a while.

    Afterwards each of its modules has its former mode, and each parameter its former gradient and
    its former `requires_grad`.
    """
    modes = [(module, module.training) for module in model.modules()]
    parameters = [(x, x.requires_grad, x.grad) for x in model.parameters()]
    try:
        model.eval()
        yield
    finally:
        for module, training in modes:
            module.training = training
        for parameter, requires_grad, gradient in parameters:
            parameter.requires_grad_(requires_grad)
            parameter.grad = gradient
