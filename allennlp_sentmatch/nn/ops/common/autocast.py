"""Leave `torch.autocast`, which narrows products to half precision.

A recurrence feeds each step's rounding to the next, and its products are too small to gain much.
Backends compute in the precision of the parameters, under autocast as well.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


def without_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Return a context in which products on a device keep the precision of their arguments.

    Without autocast, it does nothing.
    """
    if is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def cast_to_parameter(inputs: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
    """Return `inputs` in the precision of `parameter` under autocast, which may have narrowed them.

    Without autocast, precisions that differ remain an error of torch.
    """
    return inputs.to(parameter.dtype) if is_autocast_enabled(inputs.device.type) else inputs


def is_autocast_enabled(device_type: str) -> bool:
    """Return whether autocast is on for a type of device, such as "cpu" or "cuda"."""
    if device_type == "meta":  # torch has no autocast for this type
        return False
    try:
        return torch.is_autocast_enabled(device_type)
    except TypeError:  # torch < 2.4 has a function for each device
        if device_type == "cpu":
            return torch.is_autocast_cpu_enabled()
        return torch.is_autocast_enabled()
