"""Tells what runs operations: a device, or a compiler that records them."""

import torch
from torch import Tensor

#: Whether this torch can record a loop over steps; torch 2.7 and later can.
CAN_RECORD = hasattr(getattr(torch, "compiler", None), "is_exporting")


def is_on_gpu(x: Tensor) -> bool:
    """Return whether a tensor is on a device other than a CPU, and has values."""
    return x.device.type not in ("cpu", "meta")


def is_exporting() -> bool:
    """Return whether `torch.export` records operations; lengths are not known as numbers then."""
    return CAN_RECORD and torch.compiler.is_exporting()


def is_traced() -> bool:
    """Return whether `torch.jit.trace` records operations."""
    return bool(torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]


def is_compiling_or_tracing() -> bool:
    """Return whether torch records its operations, by `torch.compile`, export or `torch.jit.trace`.

    The values of tensors must not matter then.
    """
    compiler = getattr(torch, "compiler", None)  # torch < 2.1 has no `is_compiling`
    is_compiling = getattr(compiler, "is_compiling", lambda: False)
    return bool(is_compiling() or is_traced())


def is_transformed(x: Tensor) -> bool:
    """Return whether operations do more than compute values.

    This is true within `torch.func` and forward-mode differentiation and, on a CPU, for tensor
    subclasses with their own operations, such as `FakeTensor`.
    """
    return (
        _in_transform()
        or _is_batched(x)
        or torch.autograd.forward_ad._current_level >= 0
        or (x.device.type == "cpu" and _operations_of(type(x)) is not _operations_of(Tensor))
    )


# An old torch has none
_functorch = getattr(torch._C, "_functorch", None)
_is_batched = getattr(_functorch, "is_legacy_batchedtensor", lambda x: False)
_in_transform = getattr(torch._C, "_are_functorch_transforms_active", lambda: False)


def _operations_of(kind: type) -> object:
    return getattr(kind, "__torch_dispatch__", None)


def has_values(x: Tensor) -> bool:
    """Return whether a program may read a tensor's values.

    Values cannot be read on the meta device, while torch records operations, or within torch's
    transformations.
    """
    return x.device.type != "meta" and not is_compiling_or_tracing() and not is_transformed(x)
