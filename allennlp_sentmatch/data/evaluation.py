"""Data loaders for evaluation, which count every example of a file once."""

import copy
import logging
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Optional

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import lazy_groups_of
from allennlp.data import Instance
from allennlp.data.data_loaders import DataLoader, MultiProcessDataLoader, TensorDict
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import TextField
from allennlp.data.samplers import MaxTokensBatchSampler
from allennlp.models import Model

from allennlp_sentmatch.data.dataset_readers.formatted_reader import FormattedReader
from allennlp_sentmatch.files.folders import nested_objects

logger = logging.getLogger(__name__)

KEPT = ("batches_per_epoch", "collate_fn", "cuda_device", "max_instances_in_memory", "quiet")
"""The settings that an evaluation loader keeps, in addition to the batch size."""


class InOrderBatchSampler(MaxTokensBatchSampler):
    """Makes batches of consecutive examples, of `batch_size` or, without it, of as many as have
    `max_tokens` tokens, padding included. Not registered itself.
    """

    def __init__(self, batch_size: Optional[int] = None, max_tokens: Optional[int] = None) -> None:
        super().__init__(max_tokens or 1)
        self.batch_size: Any = batch_size

    def get_batch_indices(self, instances: Sequence[Instance]) -> list[list[int]]:
        """Return the positions of the examples of each batch."""
        positions = range(len(instances))
        if self.batch_size is not None:
            return [list(group) for group in lazy_groups_of(positions, self.batch_size)]
        lengths = map(_longest_text, instances)
        return list(self._lazy_groups_of_max_size(positions, lengths))


def _longest_text(instance: Instance) -> int:
    """Return the number of tokens of an instance's longest text; 1 if it has none."""
    texts = [field for field in instance.fields.values() if isinstance(field, TextField)]
    return max(map(len, texts), default=1)


class EvaluationDataLoader(MultiProcessDataLoader):
    """Yields the first `batches_per_epoch` batches of an `InOrderBatchSampler`, or all of them."""

    def __iter__(self) -> Iterator[TensorDict]:
        if self.batches_per_epoch is not None:
            self._warn_of_unused_examples(self.batches_per_epoch)
        logger.info("the loss is the mean of the batches' means; other figures count examples")
        return islice(self._iter_batches(), self.batches_per_epoch)

    def _warn_of_unused_examples(self, num_batches: int) -> None:
        used = f"{num_batches} batches"
        total = "the"
        if self._instances:  # otherwise the instances are read in parts
            sampler: Any = self.batch_sampler
            batches = islice(sampler.get_batch_indices(self._instances), num_batches)
            used = f"{sum(map(len, batches)):,}"
            total = f"{len(self._instances):,}"
        if used != total:
            logger.warning(
                "%s: %s of %s examples are used, as batches_per_epoch says",
                self.data_path,
                used,
                total,
            )


def evaluation_loader(params: Params, reader: DatasetReader, data_path: Any) -> DataLoader:
    """Return a data loader of all examples of a file, each once, in the file's order.

    From the `params` of a data loader, possibly for training, it keeps the size of batches, in
    examples or tokens, and how they are made and held in memory. Shuffling, buckets, `drop_last`
    and worker processes have no effect. With `batches_per_epoch`, the first batches are used every
    time, and the log says how many examples they have.
    """
    kind = params.get("type", "multiprocess")
    if kind == "multitask":
        params = _every_example_of_all_tasks(params)
    if kind not in ("multiprocess", "simple", "semi_supervised"):
        return DataLoader.from_params(params, reader=reader, data_path=data_path)
    sampler = params.get("batch_sampler") or {}
    size = params.get("batch_size") or sampler.get("batch_size")
    return EvaluationDataLoader.from_params(
        Params({name: params.params[name] for name in KEPT if name in params}),
        reader=reader,
        data_path=data_path,
        batch_sampler=InOrderBatchSampler(size, sampler.get("max_tokens")),
    )


def _every_example_of_all_tasks(params: Params) -> Params:
    params = params.duplicate()
    params["shuffle"] = False
    scheduler = params.get("scheduler", None)
    if isinstance(scheduler, Params):
        scheduler.pop("drop_last", None)
    return params


def whole(reader: DatasetReader) -> DatasetReader:
    """Return a copy of the reader, and of the readers in it, that reads every example once."""
    reader = copy.copy(reader)
    for name, value in list(vars(reader).items()):
        setattr(reader, name, _whole_parts(value))
    for name in _limits_of(reader):
        if hasattr(reader, name):  # AllenNLP's "multitask" has no `max_instances`
            setattr(reader, name, None)
    return reader


def _limits_of(reader: Any) -> tuple[str, ...]:
    """Return the settings by which a reader, or its class, leaves out examples or repeats them."""
    return ("max_instances", *getattr(reader, "FOR_TRAINING", ()))


def _whole_parts(value: Any) -> Any:
    """Return an attribute of a reader, with the readers that it contains as `whole` makes them."""
    if isinstance(value, DatasetReader):
        return whole(value)
    if type(value) is dict:
        return {name: _whole_parts(part) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_whole_parts, value))
    return value


def remove_limits(settings: Any) -> None:
    """Remove the settings by which a reader, or one in it, leaves out examples or repeats them."""
    registry: Any = DatasetReader._registry[DatasetReader]
    for section in nested_objects(settings):
        reader, _ = registry.get(str(section.get("type")), (None, None))
        for name in _limits_of(reader):
            section.pop(name, None)


def check_gold(model: Model, loader: Optional[DataLoader]) -> None:
    """Raise `ConfigurationError` for a file without the gold field of the model's predictions.

    The figures of such a file would be 0: no accuracy, and no error.
    """
    name = getattr(model, "gold_field", None)
    if name is None or not isinstance(loader, MultiProcessDataLoader):
        return
    first = next(iter(loader.iter_instances()), None)
    if first is None or name in first.fields:
        return
    if isinstance(loader.reader, FormattedReader):
        raise loader.reader.missing(loader.data_path, name)
    raise ConfigurationError(f"{loader.data_path}: the examples have no {name}")
