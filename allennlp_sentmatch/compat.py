"""Patches that AllenNLP 2.10.1 needs for its data, commands and archives, each with its reason.

AllenNLP's last release was written for torch 1.12. Importing this module patches the parts of its
data loaders and commands that have broken since, and some that had always failed; each function
says what failed. `training_compat.py` patches the trainer, `transformers_compat.py` the transformer
components, `evaluation_compat.py` what evaluation reads, and `models/extraction.py` how archives
are opened.
"""

import functools
import math
import os
import random
import re
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.context import BaseContext
from multiprocessing.reduction import ForkingPickler
from types import SimpleNamespace
from typing import Any

import torch
from allennlp.commands import build_vocab, count_instances, diff, find_learning_rate, predict
from allennlp.common import Params
from allennlp.common.file_utils import cached_path, open_compressed
from allennlp.data import vocabulary
from allennlp.data.data_loaders import (
    MultiProcessDataLoader,
    MultiTaskDataLoader,
    multiprocess_data_loader,
)
from allennlp.data.dataset_readers import InterleavingDatasetReader
from allennlp.data.samplers import MaxTokensBatchSampler
from allennlp.models import archival
from allennlp.training import util as training_util

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.lines import stream_lines


def patch_vocabulary() -> None:
    r"""Read the token "\r" from a vocabulary's file, as the tokenizer `character` makes it.

    Together with its line feed, it was read as a Windows line end: the token became empty, and an
    archive read "\r" as an unknown word.
    """
    module: Any = vocabulary
    module._NEW_LINE_REGEX = re.compile(r"(?<=[^\n])\r\n|\n")


def patch_workers() -> None:
    """Give a `MultiProcessDataLoader`'s workers the right lock and a seed; let them copy tensors.

    AllenNLP hands every worker a lock of the default start method; with `start_method="spawn"`
    Python refuses it: "A SemLock created in a fork context is being shared with a process in a
    spawn context". torch hands over a file descriptor for each tensor, such as a pair's score, of
    which a process may have 1,024: "received 0 items of ancdata". Python seeds a new process at
    random, so that workers shuffled differently each time.
    """

    def with_the_context_s_lock(start: Callable[..., Any]) -> Callable[..., Any]:
        def start_workers(self: MultiProcessDataLoader, queue: Any, ctx: BaseContext) -> Any:
            module: Any = multiprocess_data_loader
            module.mp = SimpleNamespace(get_context=get_context, RLock=ctx.RLock)
            loader: Any = self
            loader._random_state = random.getstate()
            return start(self, queue, ctx)

        return start_workers

    loader: Any = MultiProcessDataLoader
    for name in ("_start_instance_workers", "_start_batch_workers"):
        setattr(loader, name, with_the_context_s_lock(getattr(loader, name)))

    def by_value(work: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(work)  # a new process finds the function by its name
        def work_by_value(self: Any, worker_id: int, *args: Any) -> None:
            ForkingPickler.register(
                torch.Tensor, lambda tensor: (torch.from_numpy, (tensor.cpu().numpy(),))
            )
            random.seed(f"worker {worker_id}, {self._random_state}")
            work(self, worker_id, *args)

        return work_by_value

    for name in ("_instance_worker", "_batch_worker"):
        setattr(loader, name, by_value(getattr(loader, name)))


def patch_batches_by_tokens() -> None:
    """Make no empty first batch if the first, shortest text is longer than `max_tokens`.

    Training with such a batch of the sampler "max_tokens_sampler" ended in an `IndexError`.
    """
    sampler: Any = MaxTokensBatchSampler
    group = sampler._lazy_groups_of_max_size
    sampler._lazy_groups_of_max_size = lambda self, *sizes: filter(None, group(self, *sizes))


def patch_interleaving() -> None:
    """Let the readers in an "interleaving" one share the data, and not this reader once more.

    The processes of distributed training, or the workers of a data loader, share the data of each
    reader in it. It then divided these shares again: each of two processes read a quarter.
    """
    reader: Any = InterleavingDatasetReader
    construct = reader.__init__

    @functools.wraps(construct)  # `from_params` reads the signature
    def construct_sharing(self: Any, *args: Any, **kwargs: Any) -> None:
        construct(self, *args, **kwargs)
        self.manual_distributed_sharding = self.manual_multiprocess_sharding = True

    reader.__init__ = construct_sharing


def patch_multitask_length() -> None:
    """Count the batches of an epoch of a "multitask" loader with `instances_per_epoch`.

    It counted that number of examples for each task: with two tasks, a learning rate that falls to
    zero during the training fell to half.
    """
    loader: Any = MultiTaskDataLoader
    count_all = loader.__len__

    def count_batches(self: Any) -> int:
        num_examples = self._instances_per_epoch
        if num_examples is None:
            return int(count_all(self))
        weights = self.sampler.get_task_proportions(self._loaders)
        total = sum(weights.values())
        # `_get_instances_for_epoch` rounds in the same way.
        sampled = {task: math.floor(w * num_examples / total) for task, w in weights.items()}
        return int(self.scheduler.count_batches(sampled))

    loader.__len__ = count_batches


def patch_data_of_the_vocabulary() -> None:
    """Read the data that have a path, and all of them, for the vocabulary.

    A configuration cannot remove an inherited path. `allennlp train` accepts null as no path, but
    distributed training, `allennlp build-vocab` and `allennlp find-lr` tried to read null for the
    vocabulary. Validation data were read by the training's loader, and "semi_supervised" may
    require more examples than there are.
    """
    data_loaders_from_params = training_util.data_loaders_from_params

    def data_loaders(params: Params, *args: Any, **kwargs: Any) -> Any:
        for name in ("validation_data_path", "test_data_path", "validation_data_loader"):
            if params.get(name, None) is None:
                params.pop(name, None)
        loader = params.get("data_loader", {})
        if loader.get("type", None) == "semi_supervised" and "validation_data_loader" not in params:
            params["validation_data_loader"] = {"batch_size": loader["batch_size"]}
        return data_loaders_from_params(params, *args, **kwargs)

    for module in (training_util, find_learning_rate):
        setattr(module, "data_loaders_from_params", data_loaders)  # noqa: B010


def patch_overrides() -> None:
    """Let `allennlp build-vocab` and `count-instances` apply their `--overrides`.

    Both ignored them silently.
    """

    # The parser gets both functions before plugins are imported: replacing them has no effect.
    def from_file(file: str) -> Params:
        command: Any = sys._getframe(1)
        return Params.from_file(file, command.f_locals["args"].overrides)

    module: Any
    for module in (build_vocab, count_instances):
        module.Params = SimpleNamespace(from_file=from_file)


def patch_prediction_input() -> None:
    """Read the input of `allennlp predict` like every other file, and count all of its lines.

    A byte order mark became part of the first word, or made the JSON invalid, and other encodings
    ended in a traceback. AllenNLP leaves blank lines out without counting them: the translations
    were no longer aligned with the file, and errors could not name a line by its number.
    """

    def get(self: Any) -> Iterator[dict[str, Any]]:
        with ExitStack() as stack:
            if self._input_file == "-":
                file = sys.stdin.buffer
                name = "the standard input"
            else:
                name = self._input_file
                file = stack.enter_context(open_compressed(cached_path(name), "rb", None))
            load_file = getattr(self._predictor, "load_file", None)
            if load_file is not None:
                yield from load_file(file, name)
                return
            with configuration_errors():
                for _, line in stream_lines(file, name):
                    if not line.isspace():
                        yield self._predictor.load_line(line)

    manager: Any = predict._PredictManager
    manager._get_json_data = get


def patch_diff() -> None:
    """Let `allennlp diff` compare integers, and tell NaN from numbers.

    It computed the mean of squares in integers, for example for a batch normalization's count of
    batches: "mse_cpu" not implemented for 'Long'. A tensor with NaN equaled every other one.
    """
    module: Any = diff
    finalize = module._finalize

    def finalize_as_numbers(history: Any, first: Any, second: Any, *settings: float) -> Any:
        numbers = [
            {name: tensor.double().nan_to_num(nan=1e300) for name, tensor in state.items()}
            for state in (first, second)
        ]
        return finalize(history, *numbers, *settings)

    module._finalize = finalize_as_numbers


def patch_archives() -> None:
    """Write archives atomically, and compress them with gzip's own level, 6.

    An interruption left a part of an archive under its name.

    AllenNLP leaves Python's default level, 9. With it, compressing the weights of
    `own_pairs.jsonnet` (76 MB) takes ten times as long, half a minute, without making them smaller.
    """

    @contextmanager
    def open_archive(name: str, mode: Any) -> Iterator[tarfile.TarFile]:
        temporary = f"{name}.tmp"
        try:
            with tarfile.open(temporary, mode, compresslevel=6) as archive:
                yield archive
            os.replace(temporary, name)
        except BaseException:
            with suppress(FileNotFoundError):
                os.remove(temporary)
            raise

    module: Any = archival
    module.tarfile = SimpleNamespace(open=open_archive)


patch_vocabulary()
patch_workers()
patch_batches_by_tokens()
patch_interleaving()
patch_multitask_length()
patch_data_of_the_vocabulary()
patch_overrides()
patch_prediction_input()
patch_diff()
patch_archives()
