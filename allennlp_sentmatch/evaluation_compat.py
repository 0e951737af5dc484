"""Patches to AllenNLP 2.10.1 for evaluating all examples of a file, or saying why not."""

import functools
import inspect
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from allennlp.commands import evaluate
from allennlp.commands.train import TrainModel
from allennlp.common import Lazy, Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.params import parse_overrides, with_overrides
from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, DatasetReader, TensorDict
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.evaluation import SimpleEvaluator
from allennlp.models import Model, archival
from allennlp.models.archival import CONFIG_NAME
from torch import distributed

from allennlp_sentmatch.data.evaluation import (
    check_gold,
    evaluation_loader,
    remove_limits,
    whole,
)
from allennlp_sentmatch.files.folders import nested_objects

logger = logging.getLogger(__name__)

LOADERS_LIMITS = ("batches_per_epoch", "instances_per_epoch")
"""The settings of data loaders that leave examples out."""


def patch_empty_data() -> None:
    """Refuse data without an example, or without a batch because of `drop_last`.

    Training on nothing ended with a loss, and an evaluation with an accuracy, of 0.0.
    """
    loader: Any = MultiProcessDataLoader
    iterate = loader._iter_batches

    def iterate_and_check(self: Any) -> Iterator[TensorDict]:
        yielded = False
        for batch in iterate(self):
            yielded = True
            yield batch
        source = self.batch_sampler or self  # whichever of the two has the settings
        if not yielded:
            problem = "there is no example"
            if getattr(source, "drop_last", False):
                problem = f"drop_last leaves no batch of {source.batch_size}, as there are fewer "
                problem += "examples; give this data_loader a smaller batch size or no drop_last"
            raise ConfigurationError(f"{self.data_path}: {problem}")

    loader._iter_batches = iterate_and_check


def patch_archives() -> None:
    """Read an archive's configuration so that each example is read once.

    Commands silently left out the examples past the `max_instances` of the archive's reader, or of
    readers in it, and the `batches_per_epoch` of its loader, or the `instances_per_epoch` of the
    loader "multitask"; long sentences for the `max_length` of `parallel_text`, and questions for
    `min_overlap`. With `swap_pairs`, they read each pair twice, and `allennlp compare` counted
    twice as many items as there are. Overrides, which are applied later, may set these.
    """

    def from_file(file: Any, overrides: Any = "") -> Params:
        config = Params.from_file(file).params
        for prefix in ("", "validation_"):
            remove_limits(config.get(f"{prefix}dataset_reader"))
            for section in nested_objects(config.get(f"{prefix}data_loader")):
                for limit in LOADERS_LIMITS:
                    section.pop(limit, None)
        overrides = json.dumps(overrides) if isinstance(overrides, dict) else overrides
        return Params(with_overrides(config, parse_overrides(overrides)))

    module: Any = archival
    module.Params = SimpleNamespace(from_file=from_file)


def patch_training() -> None:
    """Validate and test with all examples of a file, each once, in its order.

    AllenNLP uses the training's data loader and reader, unless there are others for validation,
    with their shuffling, buckets, `drop_last`, `batches_per_epoch`, which keeps its position over
    epochs, and the settings that leave examples out or read them twice. `validation_data_loader`
    and `validation_dataset_reader` still change a validation, but not a test.
    """
    train: Any = TrainModel
    construct = train.from_partial_objects.__func__

    @functools.wraps(construct)
    def construct_for_all_data(cls: type, *args: Any, **kwargs: Any) -> Any:
        settings = inspect.signature(construct).bind(cls, *args, **kwargs).arguments
        own_loader = settings.get("validation_data_loader")
        parts = [x for x in ("validation", "test") if settings.get(f"{x}_data_path") is not None]

        def load(reader: DatasetReader, data_path: Any) -> Any:
            is_test = parts.pop(0) == "test"
            lazy = own_loader or settings["data_loader"]
            if lazy._constructor is not DataLoader:  # called by a program, without a configuration
                return lazy.construct(reader=reader, data_path=data_path)
            params = lazy._params.duplicate()
            if is_test or own_loader is None:
                for limit in LOADERS_LIMITS:
                    params.pop(limit, None)
            return evaluation_loader(params, whole(reader) if is_test else reader, data_path)

        _warn_of_readers_that_differ(Path(settings["serialization_dir"], CONFIG_NAME))
        if settings.get("validation_dataset_reader") is None:
            settings["validation_dataset_reader"] = whole(settings["dataset_reader"])
        settings["validation_data_loader"] = Lazy(load)
        made = construct(**settings)
        check_gold(made.model, getattr(made.trainer, "_validation_data_loader", None))
        check_gold(made.model, made.evaluation_data_loader if made.evaluate_on_test else None)
        return made

    train.from_partial_objects = classmethod(construct_for_all_data)


def _warn_of_readers_that_differ(config_file: Path) -> None:
    """Log a warning if a training's configuration splits the texts of its validation otherwise.

    An override of a setting of `dataset_reader` does not change a `validation_dataset_reader` that
    the configuration derives from it.
    """
    config = json.loads(config_file.read_text("utf-8")) if config_file.exists() else {}
    of_training = config.get("dataset_reader")
    of_validation = config.get("validation_dataset_reader")
    if not (isinstance(of_training, dict) and isinstance(of_validation, dict)):
        return  # the same reader, or only the name of one
    for name in ("tokenizer", "token_indexers"):
        if of_training.get(name) != of_validation.get(name):
            logger.warning(
                "validation_dataset_reader has another %s than dataset_reader: validation, tests "
                "and predictions read other words than the training; override both of them",
                name,
            )


def patch_distributed_test() -> None:
    """Let `evaluate_on_test` follow distributed training.

    Only the first process evaluated its share of the data, and then waited for the metrics of the
    others, which had ended: training crashed, or hung, without an archive.
    """
    train: Any = TrainModel
    finish = train.finish

    def finish_alone(self: Any, metrics: dict[str, Any]) -> None:
        loader = self.evaluation_data_loader
        is_read_in_shares = is_distributed() and isinstance(loader, MultiProcessDataLoader)
        if self.evaluate_on_test and is_read_in_shares:
            distributed.destroy_process_group()
            loader.reader._set_distributed_info(None)
            loader._instances = None  # read all of them
        finish(self, metrics)

    train.finish = finish_alone


def patch_evaluate() -> None:
    """Let `allennlp evaluate` read all examples in their order, and keep the figures of each file.

    The figures of files with the same name in different folders replaced each other.
    """
    command: Any = evaluate
    command.DataLoader = SimpleNamespace(from_params=evaluation_loader)
    evaluator: Any = SimpleEvaluator
    evaluate_loader = evaluator.__call__
    evaluate_files = command.evaluate_from_archive
    results: list[tuple[Any, dict[str, Any]]] = []

    @functools.wraps(evaluate_loader)
    def check_and_evaluate(self: Any, model: Model, data_loader: Any, *args: Any, **kw: Any) -> Any:
        check_gold(model, data_loader)
        figures = evaluate_loader(self, model, data_loader, *args, **kw)
        results.append((getattr(data_loader, "data_path", None), figures))
        return figures

    @functools.wraps(evaluate_files)
    def evaluate_from_archive(*args: Any, **kwargs: Any) -> dict[str, Any]:
        results.clear()
        figures: dict[str, Any] = evaluate_files(*args, **kwargs)
        if len(figures) < sum(len(one) for _, one in results):
            return {f"{path}_{name}": x for path, one in results for name, x in one.items()}
        return figures

    evaluator.__call__ = check_and_evaluate
    command.evaluate_from_archive = evaluate_from_archive


patch_empty_data()
patch_archives()
patch_training()
patch_distributed_test()
patch_evaluate()
