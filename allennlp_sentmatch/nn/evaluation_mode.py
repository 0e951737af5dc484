"""Temporary evaluation mode."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def evaluation_mode(model: torch.nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode; restore the mode of each of its modules afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    if not any(training for _, training in modes):  # setting an attribute of a module is slow
        yield
        return
    try:
        model.eval()
        yield
    finally:
        for module, training in modes:
            module.training = training
