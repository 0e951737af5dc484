"""Running the tasks: from sentences to figures."""

import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Union

import numpy
from allennlp.common.checks import ConfigurationError
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score

from allennlp_sentmatch.transfer.logistic_regression import (
    Array,
    LinearClassifier,
    fit_path,
)
from allennlp_sentmatch.transfer.relatedness import expected_grades, graded_rows
from allennlp_sentmatch.transfer.report import TaskResult, TransferReport
from allennlp_sentmatch.transfer.selection import (
    Predictions,
    with_cross_validation,
    with_nested_cross_validation,
    with_validation_data,
)
from allennlp_sentmatch.transfer.sentence_vectors import SentenceVectors
from allennlp_sentmatch.transfer.splits import Examples, Splits
from allennlp_sentmatch.transfer.tasks import TASKS, Task

logger = logging.getLogger(__name__)


class TransferBenchmark:
    """Tests sentence vectors with linear classifiers on top of them.

    The features of a sentence are its vector u; those of a pair, [|u - v|; u * v].

    # Parameters

    data_folder : `Union[str, os.PathLike]`
        Has a folder for each data set; see `data_folder.SUBFOLDERS`.
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
        tested = splits.train if splits.test is None else splits.test
        if task.grades is None:
            predictions = self._classify(splits, vectors, task.name)
            metrics = {"accuracy": accuracy_score(tested.targets, predictions.predicted)}
            if task.positive_label is not None:
                metrics["f1"] = f1_score(
                    tested.targets, predictions.predicted, pos_label=task.positive_label
                )
        else:
            predictions = _relate(splits, vectors, task.grades, task.name)
            metrics = {
                "pearson": _pearson(predictions.predicted, tested.targets),
                "spearman": _correlation(spearmanr, predictions.predicted, tested.targets),
            }
        return TaskResult(
            {metric: float(value) for metric, value in metrics.items()},
            predictions.l2_penalties,
            len(splits.train.targets),
            len(tested.targets),
            time.perf_counter() - start,
        )

    def _classify(self, splits: Splits, vectors: SentenceVectors, name: str) -> Predictions:
        features, labels = _features(splits.train, vectors), splits.train.targets
        cross_validation: dict[str, Any] = {
            "num_folds": self._num_folds,
            "seed": self._seed,
            "description": name,
        }
        if splits.test is None:
            return with_nested_cross_validation(features, labels, **cross_validation)
        test_features = _features(splits.test, vectors)
        if splits.validation is None:
            return with_cross_validation(features, labels, test_features, **cross_validation)
        return with_validation_data(
            fit_path(features, labels),
            (_features(splits.validation, vectors), splits.validation.targets),
            test_features,
            LinearClassifier.predict,
            accuracy_score,
            name,
        )


def _relate(
    splits: Splits, vectors: SentenceVectors, grades: tuple[int, int], name: str
) -> Predictions:
    """Predictions of scores."""
    if splits.validation is None or splits.test is None:
        raise ConfigurationError(f"{name}: scores need a validation and a test set")
    rows = graded_rows(splits.train.targets, *grades)
    features = _features(splits.train, vectors)
    return with_validation_data(
        fit_path(features[rows.examples], rows.grades, weights=rows.weights),
        (_features(splits.validation, vectors), splits.validation.targets),
        _features(splits.test, vectors),
        expected_grades,
        _pearson,
        name,
    )


def _pearson(predicted: Array, targets: Array) -> float:
    return _correlation(pearsonr, predicted, targets)


def _correlation(function: Callable[..., Any], predicted: Array, targets: Array) -> float:
    """A correlation; 0 where all predictions or targets are the same and it is not defined."""
    if numpy.ptp(predicted) == 0 or numpy.ptp(targets) == 0:
        return 0.0
    return float(function(predicted, targets)[0])


def _features(examples: Examples, vectors: SentenceVectors) -> Array:
    """The features (N, D) of sentences or of pairs."""
    columns = list(zip(*examples.sentences))
    first = vectors.of(columns[0])
    if len(columns) == 1:
        return first
    second = vectors.of(columns[1])
    return numpy.concatenate([numpy.abs(first - second), first * second], axis=1)
