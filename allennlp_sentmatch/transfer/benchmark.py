"""Run the tasks, from sentences to figures."""

import logging
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy
from sklearn.metrics import accuracy_score, f1_score

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.errors import ConfigurationError, configuration_errors
from allennlp_sentmatch.estimators.groups import checked_groups, group_equal, joined_groups
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.nn.checks import SEED
from allennlp_sentmatch.training.metrics.correlations import correlations
from allennlp_sentmatch.transfer.classifiers import Data, LabelClassifier, predict_with_best_penalty
from allennlp_sentmatch.transfer.report import TaskResult, TransferReport, metric_key
from allennlp_sentmatch.transfer.sentence_vectors import SentenceVectors
from allennlp_sentmatch.transfer.tasks import TASKS, TaskExamples, TransferTask

logger = logging.getLogger(__name__)


class TransferBenchmark:
    """Tests sentence vectors with linear classifiers on top of them.

    The features of a sentence are its vector u (E,), and the features of a pair are [|u - v|;
    u * v] (2E,). Raise `ConfigurationError` for a folder that does not exist, too few folds, an
    impossible seed, or two tasks of one name.

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
        data_folder: AnyPath,
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
        with configuration_errors():
            SEED.check("the seed of the folds", seed)
        names = Counter(metric_key(task.name, "") for task in tasks)
        for name, number in names.items():
            if number > 1:
                raise ConfigurationError(f"two tasks have the name {name.rstrip('_')!r}")
        self._tasks = tasks
        self._num_folds = num_folds
        self._seed = seed

    def sentences(self) -> list[str]:
        """Return the distinct sentences of all tasks, in the order in which they occur first.

        Raise `ConfigurationError` if a file is missing or malformed.
        """
        all_splits = (task.read(self._folder) for task in self._tasks)
        return list(dict.fromkeys(text for splits in all_splits for text in splits.sentences()))

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
                message = " ".join(str(error).split())
                errors[task.name] = message or type(error).__name__
        settings = {"num_folds": self._num_folds, "seed": self._seed}
        return TransferReport(name, vectors.size, settings, results, errors)

    def run_task(self, task: TransferTask, vectors: SentenceVectors) -> TaskResult:
        """Run one task. Raise `ConfigurationError` for what is wrong with its data or vectors."""
        splits = task.read(self._folder)
        groups = group_equal(splits.train.sentences)
        given = checked_groups(splits.train.ids if task.has_groups else None, len(groups))
        if given is not None:
            groups = joined_groups(groups, given)
        vectors.add(task.data_set, splits.sentences())
        start = time.perf_counter()
        train = _data(splits.train, vectors)
        validation = None if splits.validation is None else _data(splits.validation, vectors)
        test = None if splits.test is None else _data(splits.test, vectors)
        predicted, l2_penalties = predict_with_best_penalty(
            task.estimator,
            train,
            validation,
            None if test is None else test[0],
            num_folds=self._num_folds,
            seed=self._seed,
            description=task.name,
            groups=groups,
        )
        learned = train[1]
        targets = learned if test is None else test[1]
        if isinstance(task.estimator, LabelClassifier):
            _warn_of_unseen_labels(task.name, learned, targets)
            metrics = {"accuracy": float(accuracy_score(targets, predicted))}
        else:
            metrics = correlations(predicted, targets)
        if task.positive_label is not None:
            metrics["f1"] = float(f1_score(targets, predicted, pos_label=task.positive_label))
        return TaskResult(
            metrics=metrics,
            l2_penalties=l2_penalties,
            num_training=len(learned),
            num_test=len(targets),
            seconds=time.perf_counter() - start,
        )


def _warn_of_unseen_labels(task: str, learned: Array, targets: Array) -> None:
    """Log the labels of test examples (M,) that no training example (N,) has."""
    unseen = Counter(targets[~numpy.isin(targets, learned)].tolist())
    if unseen:
        logger.warning(
            "%s: %d of the %d test examples have labels that no training example has, and count as "
            "errors: %s",
            task,
            sum(unseen.values()),
            len(targets),
            ", ".join(f"{label!r} ({count})" for label, count in unseen.most_common(10)),
        )


def _data(examples: TaskExamples, vectors: SentenceVectors) -> Data:
    """Return the features (N, D) of sentences or of pairs, and their targets (N,)."""
    columns = [vectors.of(sentences) for sentences in zip(*examples.sentences)]  # (N, E) each
    if len(columns) == 1:
        return columns[0], examples.targets
    first, second = columns
    difference = numpy.abs(first - second)
    product = first * second
    features = numpy.concatenate([difference, product], axis=1)  # (N, 2E)
    return features, examples.targets
