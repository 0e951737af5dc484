"""Patches that AllenNLP 2.10.1 needs on torch 2 and transformers 4.46, each with its reason.

AllenNLP's last release was written for torch 1.12 and transformers 4.20. Importing this module
patches the parts of its trainer, its data loader and its transformer components that have broken
since; each function says what failed. Nothing is
loosened: `torch.load` still refuses whatever is not on its list.
"""

import inspect
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from types import SimpleNamespace
from typing import Any, Union

import numpy
import torch
from allennlp.common import cached_transformers
from allennlp.common.tqdm import Tqdm
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.training import gradient_descent_trainer
from allennlp.training.learning_rate_schedulers import ReduceOnPlateauLearningRateScheduler
from allennlp.training.optimizers import Optimizer
from transformers import PreTrainedTokenizerBase

Workers = tuple[list[BaseProcess], list[Connection]]


def patch_reduce_on_plateau() -> None:
    """Construct `reduce_on_plateau` without `verbose`.

    AllenNLP passes `verbose` to torch's `ReduceLROnPlateau`, and torch 2.7 removed it: "got an
    unexpected keyword argument 'verbose'". The signature stays, since `from_params` reads it.
    """
    plateau: Any = torch.optim.lr_scheduler.ReduceLROnPlateau
    if "verbose" in inspect.signature(plateau).parameters:
        return

    def construct(
        self: ReduceOnPlateauLearningRateScheduler,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        threshold_mode: str = "rel",
        threshold: float = 1e-4,
        cooldown: int = 0,
        min_lr: Union[float, list[float]] = 0,
        eps: float = 1e-8,
    ) -> None:
        self.lr_scheduler = plateau(
            optimizer,
            mode=mode,
            factor=factor,
            patience=patience,
            threshold=threshold,
            threshold_mode=threshold_mode,
            cooldown=cooldown,
            min_lr=min_lr,
            eps=eps,
        )

    ReduceOnPlateauLearningRateScheduler.__init__ = construct  # type: ignore[method-assign]


def patch_recovery() -> None:
    """Let `--recover` read a training state.

    Since torch 2.6 `torch.load` reads tensors and plain containers only. Schedulers that compute
    with NumPy (`cosine`, `slanted_triangular`) leave a `numpy.float64` in the training state, which
    it refuses: "Unsupported global: GLOBAL numpy._core.multiarray.scalar". This allows the three
    names that such a number is pickled with; they can make numbers and nothing else.
    """
    if hasattr(torch.serialization, "add_safe_globals"):
        number = numpy.float64(0.0)
        make_scalar: Any = number.__reduce__()[0]
        torch.serialization.add_safe_globals([make_scalar, numpy.dtype, type(number.dtype)])


def patch_worker_locks() -> None:
    """Give the workers of `MultiProcessDataLoader` a lock of their own start method.

    AllenNLP hands every worker a lock of the default start method; with `start_method="spawn"`
    Python refuses it: "A SemLock created in a fork context is being shared with a process in a
    spawn context".
    """

    def start_workers(work: str) -> Callable[..., Workers]:
        def start(self: MultiProcessDataLoader, queue: Any, ctx: BaseContext) -> Workers:
            Tqdm.set_lock(ctx.RLock())
            workers: list[BaseProcess] = []
            senders: list[Connection] = []
            for worker_id in range(self.num_workers):
                receiver, sender = ctx.Pipe(duplex=False)
                worker = ctx.Process(  # type: ignore[attr-defined]
                    target=getattr(self, work),
                    args=(worker_id, queue, Tqdm.get_lock(), receiver),
                    daemon=True,
                )
                worker.start()
                workers.append(worker)
                senders.append(sender)
            return workers, senders

        return start

    loader: Any = MultiProcessDataLoader
    loader._start_instance_workers = start_workers("_instance_worker")
    loader._start_batch_workers = start_workers("_batch_worker")


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


def patch_special_tokens() -> None:
    """Construct the tokenizers of transformers without `add_special_tokens`.

    AllenNLP's `PretrainedTransformerTokenizer` passes it to the constructor, and transformers
    refuses it since it has a method of that name: "add_special_tokens conflicts with the method
    add_special_tokens in BertTokenizerFast". The constructor has no use for it: AllenNLP says with
    each text whether to add special tokens.
    """
    try:
        PreTrainedTokenizerBase(add_special_tokens=False)
    except AttributeError:
        pass
    else:
        return
    get_tokenizer = cached_transformers.get_tokenizer

    def get(
        model_name: str, *, add_special_tokens: bool = True, **kwargs: Any
    ) -> PreTrainedTokenizerBase:
        return get_tokenizer(model_name, **kwargs)

    cached_transformers.get_tokenizer = get


patch_reduce_on_plateau()
patch_recovery()
patch_worker_locks()
patch_mixed_precision()
patch_special_tokens()
