"""Whether kernels written in Triton can be launched.

Triton comes with torch's builds for CUDA. `TRITON_INTERPRET=1` in the environment has it interpret
its kernels on any device, which is slow and how they are tested where there is no GPU.
"""

import logging
import os
from functools import cache

import torch

logger = logging.getLogger(__name__)


def takes_triton(x: torch.Tensor) -> bool:
    """Whether Triton kernels can be launched for `x` and tensors beside it."""
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    return (x.is_cuda or interpreted) and _compiles_on(x.device)


@cache
def _compiles_on(device: torch.device) -> bool:
    """Whether a kernel compiles and runs there: Triton needs a C compiler and a recent GPU."""
    from allennlp_sentmatch.nn.kernels import controlled_recurrence_triton

    if not controlled_recurrence_triton.HAS_TRITON:
        return False
    one = torch.ones(1, 1, device=device)
    try:
        controlled_recurrence_triton.read(one, one)
    except Exception as error:  # whatever compilers, drivers and GPUs come up with
        logger.warning("No Triton kernels on %s, torch's operations instead: %s", device, error)
        return False
    return True
