"""Leaving `torch.autocast`, which narrows products to half precision, where that is useless.

A recurrence feeds each step's rounding to the next, and its products are too small to gain much:
backends compute in the precision of the parameters, also under autocast.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


def without_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """A context in which products keep the precision of their arguments."""
    if device.type != "meta" and is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def cast_to_parameter(inputs: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
    """`inputs` in the precision of `parameter` under autocast, which may have narrowed them.

    Without autocast, precisions that differ remain an error of torch.
    """
    return inputs.to(parameter.dtype) if is_autocast_enabled(inputs.device.type) else inputs


def is_autocast_enabled(device_type: str) -> bool:
    """`True` if autocast is on for a type of device."""
    try:
        return torch.is_autocast_enabled(device_type)
    except TypeError:  # torch < 2.4 has a function for each device
        if device_type == "cpu":
            return torch.is_autocast_cpu_enabled()
        return torch.is_autocast_enabled()
