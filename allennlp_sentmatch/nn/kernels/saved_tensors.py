"""Writing where a backward pass finds what its forward pass saved.

Large new tensors cost a CPU more than the arithmetic that fills them: the system hands out their
memory page by page.
"""

from typing import Any

import torch


def writable(saved: torch.Tensor) -> torch.Tensor:
    """A tensor of the same values that a backward pass may write to.

    It is `saved` itself, a tensor that only the forward pass knows beside this backward pass, if
    the graph is freed afterwards; with `retain_graph=True` it is a copy.
    """
    # torch's own compiled backward passes ask the same, to write where their inputs lie.
    keeps_graph: Any = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", None)
    if keeps_graph is None or keeps_graph():
        return saved.clone()
    return saved
