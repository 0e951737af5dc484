"""Count the matrix products of a piece of code, and measure its peak memory."""

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils import _python_dispatch

CAN_RECORD = hasattr(_python_dispatch, "TorchDispatchMode") and hasattr(torch, "UntypedStorage")


class Operations(_python_dispatch.TorchDispatchMode if CAN_RECORD else object):
    """Records what is computed within the context; skips the test where torch cannot.

    # Attributes

    products : `list[tuple[int, int]]`
        (N, K) of each product of N rows with a matrix of K inputs.
    peak_memory : `int`
        The most bytes that tensors made within the context held at a time.
    """

    def __init__(self):
        if not CAN_RECORD:
            pytest.skip("this torch cannot record its operations")
        super().__init__()
        self.products = []
        self.peak_memory = 0
        self._alive = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.__name__.split(".")[0]
        if name in ("mm", "_linear_pointwise"):
            self.products.append(tuple(args[0].shape))
        elif name in ("addmm", "addmm_"):
            self.products.append(tuple(args[1].shape))
        elif name in ("bmm", "baddbmm", "linear", "matmul"):
            raise NotImplementedError(f"the rows of {name} are not counted")
        outputs = function(*args, **(kwargs or {}))
        for output in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
            # oneDNN's own layout has no storage to look at.
            if isinstance(output, torch.Tensor) and not output.is_mkldnn:
                storage = output.untyped_storage()
                self._alive[StorageWeakRef(storage)] = storage.nbytes()
        self._alive = {ref: size for ref, size in self._alive.items() if not ref.expired()}
        self.peak_memory = max(self.peak_memory, sum(self._alive.values()))
        return outputs
