"""The precision of computations for which half precision is too coarse."""

import torch
from torch import Tensor


def at_least_float32(x: Tensor) -> Tensor:
    """Return float32 for the bfloat16 or float16 of autocast, which has three digits only."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
