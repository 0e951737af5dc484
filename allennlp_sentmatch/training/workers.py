"""Communication between the workers of distributed training."""

from typing import Any, TypeVar

from allennlp.common.util import is_distributed
from torch import distributed

T = TypeVar("T")


def gather(value: T) -> list[T]:
    """Return the values of all workers, by their rank; outside distributed training, the one."""
    if not is_distributed():
        return [value]
    values: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(values, value)
    return values
