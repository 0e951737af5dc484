"""Patches that AllenNLP 2.10.1 needs on torch 2, each with its reason.

AllenNLP's last release was written for torch 1.12. Importing this module patches the parts of its
trainer, data loader and commands that have broken since, and some that had always failed; each
function says what failed. `transformers_compat.py` patches the transformer components,
`evaluation_compat.py` what evaluation reads, and `models/archival.py` how archives are opened.
"""

import functools
import inspect
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

import numpy
import torch
from allennlp.commands import build_vocab, count_instances, diff, find_learning_rate, predict
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path, open_compressed
from allennlp.data import vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader, multiprocess_data_loader
from allennlp.data.dataset_readers import InterleavingDatasetReader
from allennlp.models import archival
from allennlp.training import gradient_descent_trainer
from allennlp.training import util as training_util
from allennlp.training.callbacks import ShouldValidateCallback
from allennlp.training.learning_rate_schedulers import ReduceOnPlateauLearningRateScheduler
from allennlp.training.moving_average import MovingAverage

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.lines import stream_lines
from allennlp_sentmatch.files.messages import did_you_mean


def patch_reduce_on_plateau() -> None:
    """Construct `reduce_on_plateau` without `verbose`.

    AllenNLP passes `verbose` to torch's `ReduceLROnPlateau`, and torch 2.7 removed it: "got an
    unexpected keyword argument 'verbose'".
    """
    plateau: Any = torch.optim.lr_scheduler.ReduceLROnPlateau
    if "verbose" in inspect.signature(plateau).parameters:
        return
    scheduler: Any = ReduceOnPlateauLearningRateScheduler
    construct = scheduler.__init__

    @functools.wraps(construct)  # `from_params` reads the signature
    def construct_without_verbose(self: Any, *args: Any, **kwargs: Any) -> None:
        settings = inspect.signature(construct).bind(self, *args, **kwargs).arguments
        del settings["self"]
        settings.pop("verbose", None)
        self.lr_scheduler = plateau(**settings)

    scheduler.__init__ = construct_without_verbose


def patch_recovery() -> None:
    """Let `--recover` read a training state.

    Since torch 2.6 `torch.load` reads tensors and plain containers only. Schedulers that compute
    with NumPy (`cosine`, `slanted_triangular`) leave a `numpy.float64` in the training state, which
    `torch.load` refuses: "Unsupported global: GLOBAL numpy._core.multiarray.scalar". This allows
    the three names with which such a number is pickled; they can only make numbers.

    A recovered moving average followed the copies of the parameters in its state instead of the
    model's parameters: it never changed, and the model was not averaged.
    """
    if hasattr(torch.serialization, "add_safe_globals"):
        number = numpy.float64(0.0)
        make_scalar: Any = number.__reduce__()[0]
        torch.serialization.add_safe_globals([make_scalar, numpy.dtype, type(number.dtype)])

    def load_averages(self: Any, state_dict: dict[str, dict[str, torch.Tensor]]) -> None:
        for name, average in state_dict["shadows"].items():
            self._shadows[name].copy_(average)

    moving_average: Any = MovingAverage
    moving_average.load_state_dict = load_averages


def patch_validation_interval() -> None:
    """Keep the best weights if `should_validate_callback` skips validations.

    The callback decided on the next epoch before this epoch's weights were saved as the best, and
    the weights of an epoch without validation counted as the best: the archive contained other
    weights than those of `best_epoch`. After `--recover`, other epochs were validated.
    """
    callback: Any = ShouldValidateCallback

    def decide(
        self: Any, trainer: Any, *args: Any, is_training: bool = True, **kwargs: Any
    ) -> None:
        if is_training:
            epoch = max(trainer._epochs_completed, trainer._start_after_epochs_completed)
            trainer._should_validate_this_epoch = self._should_validate(epoch)

    def on_epoch(self: Any, trainer: Any, *args: Any, **kwargs: Any) -> None:
        if not trainer._should_validate_this_epoch and trainer._validation_data_loader is not None:
            trainer._metric_tracker._is_best_so_far = False
            trainer._metric_tracker._epoch_number += 1  # it counts validations

    callback.on_start = callback.on_batch = decide
    callback.on_epoch = on_epoch


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


def patch_mixed_precision() -> None:
    """Enter mixed precision by its current name.

    AllenNLP enters `torch.cuda.amp.autocast` for every batch, even without mixed precision. torch
    2.4 deprecated that name and prints a `FutureWarning` in the middle of the progress bar.
    """
    if not hasattr(torch.amp, "GradScaler"):
        return

    def autocast(enabled: bool) -> torch.amp.autocast:
        return torch.amp.autocast("cuda", enabled=enabled)

    trainer: Any = gradient_descent_trainer
    trainer.amp = SimpleNamespace(autocast=autocast, GradScaler=torch.amp.GradScaler)


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


def patch_trainer_settings() -> None:
    """Refuse a setting that the trainer does not have.

    AllenNLP's trainer accepts any keyword, so a misspelled setting was silently ignored.
    """
    trainer: Any = gradient_descent_trainer.GradientDescentTrainer
    construct = trainer.from_partial_objects.__func__

    @functools.wraps(construct)
    def construct_strictly(cls: type, *args: Any, **kwargs: Any) -> Any:
        functions = [construct, *(part.__init__ for part in cls.__mro__)]  # type: ignore[misc]
        known = {name for function in functions for name in inspect.signature(function).parameters}
        for name in kwargs.keys() - known:
            raise ConfigurationError(
                f"the trainer {cls.__name__} has no setting {name!r}{did_you_mean(name, known)}"
            )
        return construct(cls, *args, **kwargs)

    trainer.from_partial_objects = classmethod(construct_strictly)


def patch_training_data() -> None:
    """Show a model its training data before the trainer uses it, by its `prepare_training`.

    AllenNLP gives a model only the vocabulary, whose counts may include the validation data. The
    weights "balanced" of a classifier are those of the labels that it is trained with.
    """
    trainer: Any = gradient_descent_trainer.GradientDescentTrainer
    construct = trainer.from_partial_objects.__func__

    @functools.wraps(construct)
    def construct_prepared(cls: type, *args: Any, **kwargs: Any) -> Any:
        settings = inspect.signature(construct).bind(cls, *args, **kwargs).arguments
        prepare_training = getattr(settings["model"], "prepare_training", None)
        if prepare_training is not None:
            prepare_training(settings["data_loader"])
        return construct(cls, *args, **kwargs)

    trainer.from_partial_objects = classmethod(construct_prepared)


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


patch_reduce_on_plateau()
patch_recovery()
patch_validation_interval()
patch_vocabulary()
patch_workers()
patch_interleaving()
patch_mixed_precision()
patch_data_of_the_vocabulary()
patch_overrides()
patch_trainer_settings()
patch_training_data()
patch_prediction_input()
patch_diff()
patch_archives()
