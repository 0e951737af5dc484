"""The switch between an encoder's plain equations and its kernels.

Each encoder holds its equations as readable PyTorch, the plain path. Where `nn/kernels/` has a
faster implementation of the same function, the encoder chooses it by itself; the two agree to
rounding. To have the plain path everywhere, for instance to take a gradient of a gradient:

    with fast_paths(False):
        outputs = encoder(inputs, mask)
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

_enabled = ContextVar("fast_paths", default=True)


@contextmanager
def fast_paths(enabled: bool) -> Iterator[None]:
    """Within the context, let encoders use their kernels, or not.

    The setting holds for the thread that enters the context. A backward pass uses what its
    forward pass used, wherever it runs.
    """
    token = _enabled.set(enabled)
    try:
        yield
    finally:
        _enabled.reset(token)


def use_fast_path(*tensors: torch.Tensor) -> bool:
    """Whether kernels may be used for these tensors, which must share a device and a dtype.

    They may unless `fast_paths(False)` says otherwise, for single and double precision on a CPU
    or a CUDA device, outside of what traces operations (`torch.jit.trace`, `torch.compile`,
    `torch.export`). Under autocast, use them within `without_autocast`.
    """
    device, dtype = tensors[0].device, tensors[0].dtype
    return (
        not _is_traced()
        and _enabled.get()
        and device.type in ("cpu", "cuda")
        and dtype in (torch.float32, torch.float64)
        and all(x.device == device and x.dtype == dtype for x in tensors)
    )


def _is_traced() -> bool:
    compiler = getattr(torch, "compiler", None)  # torch < 2.1 has no `is_compiling`
    is_compiling = getattr(compiler, "is_compiling", lambda: False)
    return bool(is_compiling() or torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]
