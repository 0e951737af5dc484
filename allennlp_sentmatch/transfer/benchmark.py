"""Running the tasks: from sentences to figures."""

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Union

import numpy
from allennlp.common.checks import ConfigurationError
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from allennlp_sentmatch.transfer.logistic_regression import LABELS, Array, correlation
from allennlp_sentmatch.transfer.report import TaskResult, TransferReport, metric_key
from allennlp_sentmatch.transfer.selection import Data, Predictions, Selection
from allennlp_sentmatch.transfer.sentence_vectors import SentenceVectors
from allennlp_sentmatch.transfer.tasks import TASKS, Examples, Splits, Task

logger = logging.getLogger(__name__)


class TransferBenchmark:
    """Tests sentence vectors with linear classifiers on top of them.

    The features of a sentence are its vector u; those of a pair, [|u - v|; u * v].

    # Parameters

    data_folder : `Union[str, os.PathLike]`
        Has a folder for each data set; see `tasks.SUBFOLDERS`.
    tasks : `Sequence[Task]`, optional (default = `TASKS`)
    num_folds : `int`, optional (default = `10`)
        Of every cross-validation.
    seed : `int`, optional (default = `1111`)
        Of the folds. The default is SentEval's.
    """

    def __init__(
        self,
        data_folder: Union[str, "os.PathLike[str]"],
        tasks: Sequence[Task] = TASKS,
        num_folds: int = 10,
        seed: int = 1111,
    ) -> None:
        self._folder = Path(data_folder)
        if not self._folder.is_dir():
            raise ConfigurationError(f"{data_folder} is not a folder")
        if num_folds < 3:
            raise ConfigurationError(
                f"the number of folds must be at least 3 (one trains, one validates, one tests), "
                f"got {num_folds}"
            )
        keys = [metric_key(task.name, "") for task in tasks]
        for key in keys:
            if keys.count(key) > 1:
                raise ConfigurationError(f"two tasks have the name {key.rstrip('_')!r}")
        self._tasks = tasks
        self._num_folds = num_folds
        self._seed = seed

    def sentences(self) -> list[str]:
        """The distinct sentences of all tasks."""
        sentences: dict[str, None] = {}
        for task in self._tasks:
            sentences.update(dict.fromkeys(task.read(self._folder).sentences()))
        return list(sentences)

    def run(self, vectors: SentenceVectors, name: str) -> TransferReport:
        """Run all tasks.

        A task that fails, whatever the error, does not keep the others from running: the report has
        its error.

        # Parameters

        vectors : `SentenceVectors`
        name : `str`
            Of the encoder, for the report.
        """
        results: dict[str, TaskResult] = {}
        errors: dict[str, str] = {}
        for task in self._tasks:
            try:
                results[task.name] = self.run_task(task, vectors)
            except Exception as error:
                logger.warning("%s failed: %s", task.name, error)
                logger.info("The traceback of %s:", task.name, exc_info=True)
                errors[task.name] = " ".join(f"{error}".split()) or type(error).__name__
        settings = {"num_folds": self._num_folds, "seed": self._seed}
        return TransferReport(name, vectors.size, settings, results, errors)

    def run_task(self, task: Task, vectors: SentenceVectors) -> TaskResult:
        """Run one task."""
        splits = task.read(self._folder)
        vectors.add(task.data_set, splits.sentences())
        start = time.perf_counter()
        predicted, l2_penalties = self._predict(task, splits, vectors)
        targets = (splits.train if splits.test is None else splits.test).targets
        is_label = task.prediction is LABELS
        metrics = {"accuracy" if is_label else "pearson": task.prediction.score(predicted, targets)}
        if task.positive_label is not None:
            metrics["f1"] = f1_score(targets, predicted, pos_label=task.positive_label)
        if not is_label:
            metrics["spearman"] = correlation(spearmanr, predicted, targets)
        return TaskResult(
            {metric: float(value) for metric, value in metrics.items()},
            l2_penalties,
            len(splits.train.targets),
            len(targets),
            time.perf_counter() - start,
        )

    def _predict(self, task: Task, splits: Splits, vectors: SentenceVectors) -> Predictions:
        select = Selection(task.prediction, self._num_folds, self._seed, task.name)
        train = Data(_features(splits.train, vectors), splits.train.targets)
        if splits.test is None:
            return select.with_nested_cross_validation(train)
        test_features = _features(splits.test, vectors)
        if splits.validation is None:
            return select.with_cross_validation(train, test_features)
        validation = Data(_features(splits.validation, vectors), splits.validation.targets)
        return select.with_validation_data(train, validation, test_features)


def _features(examples: Examples, vectors: SentenceVectors) -> Array:
    """The features (N, D) of sentences or of pairs."""
    columns = list(zip(*examples.sentences))
    first = vectors.of(columns[0])
    if len(columns) == 1:
        return first
    second = vectors.of(columns[1])
    return numpy.concatenate([numpy.abs(first - second), first * second], axis=1)
