"""The precision of computations."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def at_least_float32(x: Tensor) -> Tensor:
    """Return float32 for the bfloat16 or float16 of autocast, which has three digits only."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


@contextmanager
def bfloat16_products() -> Iterator[None]:
    """Within the context, let torch round the factors of float32 products to bfloat16.

    Sums and results stay in float32. Where torch rounds (on processors with AMX, from torch 2.1 on,
    and on GPUs, which may take TensorFloat-32 instead), products are faster and their relative
    error is about 2^-9. Elsewhere, AVX512-BF16 without AMX included, nothing is rounded. The
    setting holds for all threads (`torch.set_float32_matmul_precision`).
    """
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
