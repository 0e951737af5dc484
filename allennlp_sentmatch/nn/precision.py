"""The precision of computations."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def at_least_float32(x: Tensor) -> Tensor:
    """Return float32 for autocast's bfloat16 or float16, which have only three digits."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


@contextmanager
def bfloat16_products() -> Iterator[None]:
    """Let torch round the factors of float32 products to bfloat16 within the context.

    Sums and results stay in float32. If torch rounds (on processors with AMX, from torch 2.1 on,
    and on GPUs, which may take TensorFloat-32 instead), products are faster, with a relative error
    of about 2^-9. Otherwise, also with AVX512-BF16 but no AMX, nothing is rounded. The setting
    holds for all threads (`torch.set_float32_matmul_precision`).
    """
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
