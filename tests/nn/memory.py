"""The memory of torch's computations, counted by tensors."""

from typing import Callable

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils import _python_dispatch

CAN_RECORD = hasattr(_python_dispatch, "TorchDispatchMode") and hasattr(torch, "UntypedStorage")


class PeakMemory(_python_dispatch.TorchDispatchMode if CAN_RECORD else object):
    """The peak number of bytes of tensors that were created within the context."""

    def __init__(self):
        super().__init__()
        self.bytes = 0
        self._alive = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        outputs = function(*args, **(kwargs or {}))
        for output in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
            # oneDNN's own layout has no accessible storage.
            if isinstance(output, torch.Tensor) and not output.is_mkldnn:
                storage = output.untyped_storage()
                self._alive[StorageWeakRef(storage)] = storage.nbytes()
        self._alive = {ref: size for ref, size in self._alive.items() if not ref.expired()}
        self.bytes = max(self.bytes, sum(self._alive.values()))
        return outputs


def numbers_kept(run: Callable[[], object]) -> int:
    """The numbers in the tensors that a forward pass keeps for the backward pass."""
    kept = {}

    def pack(x: torch.Tensor) -> torch.Tensor:
        kept[x.data_ptr()] = x.numel()
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        run()
    return sum(kept.values())
