"""A metric in distributed training."""

from pathlib import Path
from typing import Any, Callable

import torch.distributed
import torch.multiprocessing


def in_two_workers(measure: Callable[[int], Any], folder: Path) -> list[Any]:
    """The results of `measure(rank)` in two workers of distributed training, in any order.

    The workers are forks, which need not import AllenNLP again.
    """
    queue = torch.multiprocessing.get_context("fork").SimpleQueue()
    torch.multiprocessing.start_processes(
        _work, (measure, f"file://{folder}/store", queue), nprocs=2, start_method="fork"
    )
    return [queue.get(), queue.get()]


def _work(rank: int, measure: Callable[[int], Any], address: str, queue: Any) -> None:
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    queue.put(measure(rank))
    torch.distributed.destroy_process_group()
