"""Freezing modules while a gradient passes through them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.nn.modules.batchnorm import _BatchNorm


@contextmanager
def freeze_parameters(*modules: torch.nn.Module) -> Iterator[None]:
    """Freeze the parameters of `modules` for what is computed inside the context.

    The gradient still passes through the modules to their inputs. The training mode does not
    change, because cuDNN's recurrent networks can only be differentiated in training mode; batch
    normalization uses the batch's statistics, but does not add them to its running statistics.
    """
    parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
    normalizations = [
        part
        for module in modules
        for part in module.modules()
        if isinstance(part, _BatchNorm) and part.track_running_stats
    ]
    for parameter in parameters:
        parameter.requires_grad_(False)
    for normalization in normalizations:
        normalization.track_running_stats = False
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)
        for normalization in normalizations:
            normalization.track_running_stats = True
