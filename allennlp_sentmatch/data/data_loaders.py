"""A data loader of labeled and unlabeled batches."""

import logging
import random
from collections.abc import Iterator
from itertools import chain, count, islice
from math import ceil
from typing import Any, Optional

import allennlp.nn.util as nn_util
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.common.util import is_distributed, lazy_groups_of
from allennlp.data import Batch, Instance, Vocabulary
from allennlp.data.data_loaders import DataLoader, TensorDict
from allennlp.data.dataset_readers import DatasetReader
from torch import distributed

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn.checks import COUNT, check_choice, check_kind, check_positive, optional

logger = logging.getLogger(__name__)


@DataLoader.register("semi_supervised")
class SemiSupervisedDataLoader(DataLoader):
    """Yields one labeled and one unlabeled batch, joined, at each step.

    The labeled batch has its usual fields; the fields of the unlabeled batch have the prefix
    `unlabeled_` (`unlabeled_premise`, `unlabeled_hypothesis`), without label, score and metadata.
    An epoch is one pass over the longer of the two sets, while the shorter one is repeated as often
    as needed, or one pass over the labeled set, after which the unlabeled set goes on where it was.

    Unlabeled pairs are read from `unlabeled_data_path`, or are the remaining training data after
    `num_labeled` pairs have been drawn. Their labels are removed before the vocabulary is made.

    The order of the examples depends only on the seed and the number of the pass, so that training
    resumed by `--recover` has the same batches as uninterrupted training. Without a
    `validation_data_loader`, validation has batches of `batch_size` examples.

    Raise `ConfigurationError` for impossible settings, a labeled example without a label, or no
    unlabeled example.

    # Parameters

    reader : `DatasetReader`
        To swap pairs, use the loader's `swap_pairs` rather than the reader's, with which one order
        of a pair may be labeled and the other unlabeled.
    data_path : `str`
    batch_size : `int`
        The size of a labeled batch.
    unlabeled_batch_size : `int`, optional (default = `batch_size`)
    unlabeled_data_path : `str`, optional (default = `None`)
        More data, read by the same reader.
    num_labeled : `int`, optional (default = `None`)
        How many examples of `data_path` keep their label. Either this or `unlabeled_data_path`
        must be given. In distributed training, this is the total for all workers, each of which
        needs one.
    seed : `int`, optional (default = `None`)
        Determines which examples keep their label, and the order of all examples. By default it is
        drawn from Python's random state, which depends on the configuration's `random_seed`.
    epoch : `str`, optional (default = `"longer"`)
        An epoch is a pass over the "longer" set of batches or over the "labeled" one.
    labeled_only : `bool`, optional (default = `False`)
        Leave out the unlabeled examples, for supervised training on the same labeled examples.
    swap_pairs : `bool`, optional (default = `False`)
        Also use every pair with premise and hypothesis exchanged (thesis section 6.4.2: for
        paraphrases). Both orders of a pair are labeled, or both unlabeled.
    shuffle : `bool`, optional (default = `True`)
    """

    def __init__(
        self,
        reader: DatasetReader,
        data_path: str,
        *,
        batch_size: int,
        unlabeled_batch_size: Optional[int] = None,
        unlabeled_data_path: Optional[str] = None,
        num_labeled: Optional[int] = None,
        seed: Optional[int] = None,
        epoch: str = "longer",
        labeled_only: bool = False,
        swap_pairs: bool = False,
        shuffle: bool = True,
    ) -> None:
        if unlabeled_batch_size is None:
            unlabeled_batch_size = batch_size
        with configuration_errors():
            check_positive(batch_size=batch_size, unlabeled_batch_size=unlabeled_batch_size)
            check_kind(optional(COUNT), num_labeled=num_labeled)
            check_choice("longer", "labeled", epoch=epoch)
        if (num_labeled is None) == (unlabeled_data_path is None):
            raise ConfigurationError(
                "either num_labeled or unlabeled_data_path must be given, and not both; got "
                f"{num_labeled} and {unlabeled_data_path}"
            )
        self._seed = random.getrandbits(32) if seed is None else seed
        self._device: Optional[torch.device] = None
        self._vocab: Optional[Vocabulary] = None

        labeled = _read(reader, data_path)
        if num_labeled is not None:
            labeled, unlabeled = self._split(labeled, num_labeled, data_path)
        else:
            unlabeled = _read(reader, unlabeled_data_path)
        if not labeled:  # a worker's share may be empty
            raise ConfigurationError(f"{data_path}: no labeled examples are left for this process")
        _check_labels(labeled, data_path)
        unlabeled = [] if labeled_only else [_without_labels(instance) for instance in unlabeled]
        if not (unlabeled or labeled_only):
            raise ConfigurationError("no unlabeled examples are left; use another data loader")
        if swap_pairs:
            labeled += [_swapped(instance) for instance in labeled]
            unlabeled += [_swapped(instance) for instance in unlabeled]
        logger.info("%d labeled and %d unlabeled examples", len(labeled), len(unlabeled))
        self._labeled = labeled
        self._unlabeled = unlabeled
        self._length = ceil(len(labeled) / batch_size)
        if epoch == "longer":
            self._length = max(self._length, ceil(len(unlabeled) / unlabeled_batch_size))
        self._batches = zip(
            _batches(labeled, batch_size, shuffle, f"{self._seed}, labeled"),
            _batches(unlabeled, unlabeled_batch_size, shuffle, f"{self._seed}, unlabeled"),
        )

    def _split(
        self,
        instances: list[Instance],
        num_labeled: int,
        data_path: str,
    ) -> tuple[list[Instance], list[Instance]]:
        """Return `num_labeled` random instances, and the others, in their order."""
        if is_distributed():
            # Each worker has read a part of the data, and draws its share of the number.
            world_size = distributed.get_world_size()
            rank = distributed.get_rank()
            num_labeled, remainder = divmod(num_labeled, world_size)
            if rank < remainder:
                num_labeled += 1
        if num_labeled > len(instances):
            raise ConfigurationError(
                f"num_labeled is {num_labeled}, but {data_path} has {len(instances)} examples"
            )
        chosen = set(random.Random(self._seed).sample(range(len(instances)), num_labeled))
        labeled: list[Instance] = []
        others: list[Instance] = []
        for position, instance in enumerate(instances):
            side = labeled if position in chosen else others
            side.append(instance)
        return labeled, others

    def __len__(self) -> int:
        """Return the number of steps in an epoch."""
        return self._length

    def __iter__(self) -> Iterator[TensorDict]:
        if self._vocab is None:
            raise ValueError("index_with(vocab) must be called before the batches are used")
        for labeled, unlabeled in islice(self._batches, len(self)):
            yield self._tensors(labeled, unlabeled)

    def _tensors(self, labeled: list[Instance], unlabeled: list[Instance]) -> TensorDict:
        """Return the tensors of a labeled and an unlabeled batch, on the device."""
        tensors = Batch(labeled).as_tensor_dict()
        if unlabeled:
            others = Batch(unlabeled).as_tensor_dict()
            tensors.update({f"unlabeled_{name}": tensor for name, tensor in others.items()})
        batch: TensorDict = tensors
        return batch if self._device is None else nn_util.move_to_device(batch, self._device)

    def iter_instances(self) -> Iterator[Instance]:
        """Return all instances, the labeled ones first."""
        return chain(self._labeled, self._unlabeled)

    def index_with(self, vocab: Vocabulary) -> None:
        """Index all instances with `vocab`."""
        self._vocab = vocab
        for instance in self.iter_instances():
            instance.index_fields(vocab)

    def set_target_device(self, device: torch.device) -> None:
        """Put batches on `device`."""
        self._device = device


def _read(reader: DatasetReader, data_path: Any) -> list[Instance]:
    """Return the instances of a path, with their token indexers."""
    instances = list(Tqdm.tqdm(reader.read(data_path), desc="loading instances"))
    for instance in instances:
        reader.apply_token_indexers(instance)
    return instances


def _batches(
    instances: list[Instance],
    batch_size: int,
    shuffle: bool,
    seed: str,
) -> Iterator[list[Instance]]:
    """Yield batches forever, one pass over the instances after another; empty if there are none."""
    for pass_ in count():
        order = list(instances)
        if shuffle:
            random.Random(f"{seed}, pass {pass_}").shuffle(order)
        if order:
            yield from lazy_groups_of(order, batch_size)
        else:
            yield []


def _check_labels(instances: list[Instance], data_path: str) -> None:
    """Raise `ConfigurationError` for the first instance without a label."""
    for number, instance in enumerate(instances, start=1):
        if "label" not in instance.fields:
            raise ConfigurationError(
                f"{data_path}: labeled example {number} has no label; unlabeled examples go into "
                "unlabeled_data_path"
            )


def _without_labels(instance: Instance) -> Instance:
    """Return an unlabeled instance of the same texts."""
    fields = dict(instance.fields)
    for name in ("label", "score", "metadata"):
        fields.pop(name, None)
    return Instance(fields)


def _swapped(instance: Instance) -> Instance:
    """Return the instance of the same pair with its sentences exchanged."""
    fields = dict(instance.fields)
    premise = fields.get("premise")
    hypothesis = fields.get("hypothesis")
    if premise is None or hypothesis is None:
        raise ConfigurationError(
            f"swap_pairs needs the fields premise and hypothesis, got {sorted(fields)}"
        )
    if "word_features" in fields:
        raise ConfigurationError(
            "the loader's swap_pairs cannot exchange the reader's word_features, which are in the "
            "order of the sentences: leave out one of the two settings"
        )
    fields["premise"] = hypothesis
    fields["hypothesis"] = premise
    return Instance(fields)
