"""Data loaders for evaluation, which count every example of a file once."""

import copy
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Optional

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.data import Instance
from allennlp.data.data_loaders import DataLoader, MultiProcessDataLoader, TensorDict
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import TextField
from allennlp.data.samplers import BatchSampler
from allennlp.models import Model
from allennlp.nn.util import dist_reduce
from torch import distributed

from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import FormattedReader

logger = logging.getLogger(__name__)

CONVERTED = ("multiprocess", "simple", "semi_supervised")
"""The data loaders whose examples and batches are known; others are constructed as configured."""

KEPT = ("batches_per_epoch", "collate_fn", "cuda_device", "max_instances_in_memory", "quiet")
"""The settings that an evaluation loader takes over besides the size of a batch."""

ORDERING = ("type", "shuffle", "batch_sampler", "drop_last", "num_workers")
"""The settings with which a loader's batches are others than those in the file's order."""

LIMITS = {
    "data_loader": "batches_per_epoch",
    "validation_data_loader": "batches_per_epoch",
    "dataset_reader": "max_instances",
    "validation_dataset_reader": "max_instances",
}
"""By section of a configuration, the setting that limits the examples of an evaluation."""


@BatchSampler.register("in_order")
class InOrderBatchSampler(BatchSampler):
    """Makes batches of consecutive examples.

    In distributed training, a validation ends with the first process that has no more batches. An
    evaluation loader therefore sets `least`, the number of batches that every process must make: a
    process that would make fewer divides its largest batches.

    # Parameters

    batch_size : `int`, optional (default = `None`)
        The number of examples in a batch.
    max_tokens : `int`, optional (default = `None`)
        The largest number of tokens in a batch, padding included: its number of examples times the
        length of its longest text. A longer text is a batch of its own. One of the two is needed.
    """

    def __init__(self, batch_size: Optional[int] = None, max_tokens: Optional[int] = None) -> None:
        if (batch_size or max_tokens or 0) < 1:
            raise ConfigurationError(
                f"expected a batch_size or max_tokens of at least 1, got {batch_size}, {max_tokens}"
            )
        self.batch_size = batch_size
        self._max_tokens = max_tokens
        self.least = 0

    def get_batch_indices(self, instances: Sequence[Instance]) -> Iterable[list[int]]:
        """The positions of the examples of each batch."""
        batches = list(self._groups(instances))
        while len(batches) < min(self.least, len(instances)):
            largest = max(range(len(batches)), key=lambda i: len(batches[i]))
            half = (len(batches[largest]) + 1) // 2
            batches.insert(largest + 1, batches[largest][half:])
            del batches[largest][half:]
        return batches

    def _groups(self, instances: Sequence[Instance]) -> Iterator[list[int]]:
        batch: list[int] = []
        longest = 0
        for position, instance in enumerate(instances):
            if self.batch_size is not None:
                is_full = len(batch) == self.batch_size
            else:
                texts = (x for x in instance.fields.values() if isinstance(x, TextField))
                length = max(map(len, texts), default=1)
                is_full = (len(batch) + 1) * max(longest, length) > (self._max_tokens or 0)
                longest = length if is_full else max(longest, length)
            if batch and is_full:
                yield batch
                batch = []
            batch.append(position)
        if batch:
            yield batch

    def get_num_batches(self, instances: Sequence[Instance]) -> int:
        """The number of batches."""
        return sum(1 for _ in self._groups(instances))

    def get_batch_size(self) -> Optional[int]:
        """The `batch_size`."""
        return self.batch_size


class EvaluationDataLoader(MultiProcessDataLoader):
    """A loader that begins with the first batch every time, also with `batches_per_epoch`."""

    def __iter__(self) -> Iterator[TensorDict]:
        sampler = self.batch_sampler
        if isinstance(sampler, InOrderBatchSampler) and self._instances and is_distributed():
            own = sampler.get_num_batches(self._instances)
            sampler.least = int(dist_reduce(own, distributed.ReduceOp.MAX))
        return islice(self._iter_batches(), self.batches_per_epoch)

    def log_limit(self) -> None:
        """Log how many examples are used, if not all."""
        size = self.batch_size or (self.batch_sampler and self.batch_sampler.get_batch_size())
        if self._instances is not None and size and len(self) * size < len(self._instances):
            logger.warning(
                "%s: %s of %s examples are used (batches_per_epoch, drop_last)",
                *(self.data_path, f"{len(self) * size:,}", f"{len(self._instances):,}"),
            )


def evaluation_loader(
    settings: Params, reader: DatasetReader, data_path: Any, as_configured: bool = False
) -> DataLoader:
    """A data loader of all examples of a file, each once, in the file's order.

    Of the `settings` of a data loader, such as one for training, it keeps how large batches are,
    in examples or tokens, and how they are made and held in memory. Shuffling, buckets, `drop_last`
    and worker processes have no effect. `batches_per_epoch` has: `LIMITS` are removed before.

    # Parameters

    settings : `Params`
    reader : `DatasetReader`
    data_path : `Any`
    as_configured : `bool`, optional (default = `False`)
        Keep shuffling and the like, of a `validation_data_loader` during training.
    """
    kind = settings.get("type", "multiprocess")
    as_configured = as_configured and any(map(settings.get, ORDERING))
    if kind not in CONVERTED or (as_configured and kind != "multiprocess"):
        return DataLoader.from_params(settings, reader=reader, data_path=data_path)
    settings = settings.duplicate()
    if not as_configured:
        sampler = settings.get("batch_sampler") or {}
        size = settings.get("batch_size") or sampler.get("batch_size")
        batches = {"batch_size": size} if size else {"max_tokens": sampler.get("max_tokens")}
        kept = {name: settings.params[name] for name in KEPT if name in settings}
        settings = Params({**kept, "batch_sampler": {"type": "in_order", **batches}})
    settings.pop("type", None)
    loader = EvaluationDataLoader.from_params(settings, reader=reader, data_path=data_path)
    loader.log_limit()
    return loader


def check_gold(model: Model, reader: DatasetReader, data_path: Any, example: Instance) -> None:
    """Raise an error for an example without the field that the model's predictions are compared
    with. Accuracy and squared error without one are 0.
    """
    name = getattr(model, "gold_field", None)
    if name is None or name in example.fields:
        return
    if isinstance(reader, FormattedReader):
        raise reader.missing(data_path, name)
    raise ConfigurationError(
        f"{data_path}: the examples have no {name} to compare predictions with"
    )


def whole(reader: DatasetReader) -> DatasetReader:
    """A copy of the reader without `max_instances`."""
    reader = copy.copy(reader)
    reader.max_instances = None
    return reader
