"""Run the tasks, from sentences to figures."""

import logging
import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Union

import numpy
from sklearn.metrics import accuracy_score, f1_score

from allennlp_sentmatch.errors import ConfigurationError
from allennlp_sentmatch.estimators.groups import group_equal
from allennlp_sentmatch.training.metrics.correlations import correlations
from allennlp_sentmatch.transfer.classifiers import Data, LabelClassifier, predict_with_best_penalty
from allennlp_sentmatch.transfer.report import TaskResult, TransferReport, metric_key
from allennlp_sentmatch.transfer.sentence_vectors import SentenceVectors
from allennlp_sentmatch.transfer.tasks import TASKS, TaskExamples, TransferTask

logger = logging.getLogger(__name__)


class TransferBenchmark:
    """Tests sentence vectors with linear classifiers on top of them.

    The features of a sentence are its vector u, and the features of a pair are [|u - v|; u * v].

    # Parameters

    data_folder : `Union[str, os.PathLike]`
        Has a folder for each data set; see `tasks.SUBFOLDERS`.
    tasks : `Sequence[TransferTask]`, optional (default = `TASKS`)
    num_folds : `int`, optional (default = `10`)
        The number of folds in every cross-validation.
    seed : `int`, optional (default = `1111`)
        The seed of the folds. The default is SentEval's.
    """

    def __init__(
        self,
        data_folder: Union[str, "os.PathLike[str]"],
        tasks: Sequence[TransferTask] = TASKS,
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
        """Return the distinct sentences of all tasks."""
        sentences: dict[str, None] = {}
        for task in self._tasks:
            sentences.update(dict.fromkeys(task.read(self._folder).sentences()))
        return list(sentences)

    def run(self, vectors: SentenceVectors, name: str) -> TransferReport:
        """Run all tasks with the vectors of the encoder called `name`.

        If a task fails, the others still run, and the report has its error.
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

    def run_task(self, task: TransferTask, vectors: SentenceVectors) -> TaskResult:
        """Run one task."""
        splits = task.read(self._folder)
        vectors.add(task.data_set, splits.sentences())
        start = time.perf_counter()
        train, validation, test = (
            part and _data(part, vectors) for part in (splits.train, splits.validation, splits.test)
        )
        assert train is not None
        predicted, l2_penalties = predict_with_best_penalty(
            task.estimator,
            train,
            validation,
            test and test[0],
            self._num_folds,
            self._seed,
            task.name,
            group_equal(splits.train.sentences),
        )
        targets = (test or train)[1]
        if isinstance(task.estimator, LabelClassifier):
            unseen = Counter(targets[~numpy.isin(targets, train[1])].tolist())
            if unseen:
                logger.warning(
                    "%s: %d of the %d test examples have labels that no training example has, and "
                    "count as errors: %s",
                    task.name,
                    sum(unseen.values()),
                    len(targets),
                    ", ".join(f"{label!r} ({count})" for label, count in unseen.most_common(10)),
                )
            metrics = {"accuracy": accuracy_score(targets, predicted)}
        else:
            metrics = correlations(predicted, targets)
        if task.positive_label is not None:
            metrics["f1"] = f1_score(targets, predicted, pos_label=task.positive_label)
        return TaskResult(
            {metric: float(value) for metric, value in metrics.items()},
            l2_penalties,
            len(train[1]),
            len(targets),
            time.perf_counter() - start,
        )


def _data(examples: TaskExamples, vectors: SentenceVectors) -> Data:
    """Return the features (N, D) of sentences or of pairs, and their targets (N,)."""
    first, *others = (vectors.of(column) for column in zip(*examples.sentences))
    for second in others:
        first = numpy.concatenate([numpy.abs(first - second), first * second], axis=1)
    return first, examples.targets
