"""The ten tasks of SuBiLSTM's table 2, with the data sets' own splits, and users' own tasks.

The ten are SentEval's (Conneau and Kiela 2018, https://arxiv.org/abs/1803.05449).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.tokenizers import WhitespaceTokenizer

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.data.dataset_readers import (
    SentencePairReader,
    SentimentTreesReader,
    SingleSentenceReader,
)
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.transfer.classifiers import (
    Estimator,
    GradeRegressor,
    LabelClassifier,
)

SUBFOLDERS = {
    "MR": ("mr",),
    "CR": ("cr",),
    "SUBJ": ("subj",),
    "MPQA": ("mpqa",),
    "SST": ("sst",),
    "TREC": ("trec",),
    "MRPC": ("mrpc", "msrp"),
    "SICK": ("sick",),
    "STS-B": ("stsb", "sts/stsbenchmark"),
}
"""The subfolders in which a data set may be, in upper or lower case."""

MAX_GRADES = 100
"""The largest range of users' scores: each whole number is a class to learn."""


class TaskExamples(NamedTuple):
    """N sentences or pairs, each with a label or a score.

    A tuple of `sentences` has one or two; `targets` (N,) are strings or floating-point numbers. An
    example without an id has `None` among the `ids` (N,).
    """

    sentences: list[tuple[str, ...]]
    targets: Array
    ids: Sequence[Optional[str]] = ()


class Splits(NamedTuple):
    """A task's examples.

    Without `validation`, the L2 penalty is chosen by cross-validation on the training set; without
    `test`, the training set is tested by cross-validation.
    """

    train: TaskExamples
    validation: Optional[TaskExamples] = None
    test: Optional[TaskExamples] = None

    def sentences(self) -> list[str]:
        """Return all distinct sentences of all parts, in the order in which they occur first."""
        examples = chain.from_iterable(part.sentences for part in self if part is not None)
        return list(dict.fromkeys(chain.from_iterable(examples)))


@dataclass(frozen=True)
class TransferTask:
    """A task for testing sentence vectors.

    # Attributes

    name : `str`
    data_set : `str`
        Tasks of one data set have the same sentences.
    read : `Callable[[Path], Splits]`
        Reads the examples from a folder of data sets, which users' own tasks ignore.
    estimator : `Estimator`, optional (default = `LabelClassifier()`)
        The classifier of labels, or of scores between two grades.
    positive_label : `str`, optional (default = `None`)
        The label whose F1 is also reported.
    has_groups : `bool`, optional (default = `False`)
        Whether examples with the same id are in one fold of a cross-validation.
    """

    name: str
    data_set: str
    read: Callable[[Path], Splits]
    estimator: Estimator = LabelClassifier()  # noqa: RUF009  (never fitted, but clones of it)
    positive_label: Optional[str] = None
    has_groups: bool = False


def _examples(reader: DatasetReader, path: Any, target: str) -> TaskExamples:
    """Return the examples that a reader finds in a path; `target` is `"label"` or `"score"`.

    Raise `ConfigurationError` for an example without it.
    """
    sentences: list[tuple[str, ...]] = []
    targets = []
    ids = []
    for instance in reader.read(path):
        if target not in instance.fields:
            raise ConfigurationError(f"{path}: the examples have no {target} to predict")
        metadata = instance["metadata"].metadata  # type: ignore[attr-defined]
        if "premise" in metadata:
            sentences.append((metadata["premise"], metadata["hypothesis"]))
        else:
            sentences.append((metadata["text"],))
        label: Any = instance.get("label")
        targets.append(metadata["score"] if target == "score" else label.label)
        ids.append(metadata.get("id"))
    return TaskExamples(sentences, numpy.array(targets), ids)


def find_file(folder: Path, data_set: str, name: str) -> Path:
    """Return the file of a data set, gzip-compressed or not.

    Raise `ConfigurationError`, which lists the paths that were tried, if it does not exist.
    """
    for subfolder in SUBFOLDERS[data_set]:
        either_case = re.sub("[a-z]", lambda match: f"[{match[0]}{match[0].upper()}]", subfolder)
        for found in sorted(folder.glob(either_case)):
            for path in (found / name, found / f"{name}.gz"):
                if path.is_file():
                    return path
    wanted = " or ".join(f"{subfolder}/{name}" for subfolder in SUBFOLDERS[data_set])
    raise ConfigurationError(f"{folder}: there is no {wanted}, gzip-compressed or not")


def _splits_of(reader: DatasetReader, paths: Mapping[str, Any], target: str) -> Splits:
    """Return the examples that a reader finds in the path of each part; see `_examples`."""
    examples = {part: _examples(reader, path, target) for part, path in paths.items()}
    return Splits(**examples)


def _read_splits(
    folder: Path,
    data_set: str,
    make_reader: Callable[[], DatasetReader],
    files: Mapping[str, str],
    target: str = "label",
) -> Splits:
    """Return the examples of a data set, whose `files` have the names of the `Splits`.

    Raise `ConfigurationError` if a file is missing, or an example has no `target`.
    """
    paths = {part: find_file(folder, data_set, name) for part, name in files.items()}
    return _splits_of(make_reader(), paths, target)


_SST = {"train": "train.txt", "validation": "dev.txt", "test": "test.txt"}
_TREC = {"train": "train_5500.label", "test": "TREC_10.label"}
_MRPC = {"train": "msr_paraphrase_train.txt", "test": "msr_paraphrase_test.txt"}
_SICK = {
    "train": "SICK_train.txt",
    "validation": "SICK_trial.txt",
    "test": "SICK_test_annotated.txt",
}
_STS = {"train": "sts-train.csv", "validation": "sts-dev.csv", "test": "sts-test.csv"}


def _read_sst(folder: Path, phrases: bool) -> Splits:
    """Return the examples of SST-2, with the training sentences or their phrases.

    The phrases are the 67,349 of SentEval and GLUE: all distinct phrases that are not neutral, in
    sentences that are not neutral.
    """
    make_reader = partial(SentimentTreesReader, "2-class")
    splits = _read_splits(folder, "SST", make_reader, _SST)
    if not phrases:
        return splits
    reader = make_reader(use_subtrees=True, use_neutral_sentences=False)
    examples = _examples(reader, find_file(folder, "SST", _SST["train"]), "label")
    distinct = dict.fromkeys(zip(examples.sentences, examples.targets))
    sentences, targets = zip(*distinct)
    return splits._replace(train=TaskExamples(list(sentences), numpy.array(targets)))


def _in_two_files(
    data_set: str, name: str, labels: tuple[str, str] = ("neg", "pos")
) -> TransferTask:
    """Return a task of sentences in two files, whose suffixes are the labels."""

    def read(folder: Path) -> Splits:
        files = {label: find_file(folder, data_set, f"{name}.{label}") for label in labels}
        reader = SingleSentenceReader("two_files", tokenizer=WhitespaceTokenizer())
        return Splits(_examples(reader, files, "label"))

    return TransferTask(data_set, data_set, read)


def _in_splits(
    name: str,
    data_set: str,
    reader_class: Any,
    format: str,
    files: Mapping[str, str],
    **settings: Any,
) -> TransferTask:
    """Return a task whose parts are in `files`; `settings` are further attributes of the task.

    With an `estimator` among them, the targets are scores.
    """
    target = "score" if "estimator" in settings else "label"
    make_reader = partial(reader_class, format, tokenizer=WhitespaceTokenizer())

    def read(folder: Path) -> Splits:
        return _read_splits(folder, data_set, make_reader, files, target)

    return TransferTask(name, data_set, read, **settings)


TASKS = (
    _in_two_files("MR", "rt-polarity"),
    _in_two_files("CR", "custrev"),
    _in_two_files("SUBJ", "subj", ("objective", "subjective")),
    _in_two_files("MPQA", "mpqa"),
    TransferTask("SST", "SST", partial(_read_sst, phrases=True)),
    _in_splits("TREC", "TREC", SingleSentenceReader, "trec", _TREC),
    _in_splits("MRPC", "MRPC", SentencePairReader, "msrp", _MRPC, positive_label="1"),
    _in_splits("SICK-R", "SICK", SentencePairReader, "sick", _SICK, estimator=GradeRegressor(1, 5)),
    _in_splits("SICK-E", "SICK", SentencePairReader, "sick", _SICK),
    _in_splits("STSB", "STS-B", SentencePairReader, "sts", _STS, estimator=GradeRegressor(0, 5)),
)
"""The tasks in the order of the table."""

SST_SENTENCES = TransferTask("SST", "SST", partial(_read_sst, phrases=False))
"""SST with only the training sentences instead of all phrases."""


def own_task(settings: Mapping[str, Any]) -> TransferTask:
    """Return a task with the user's sentences or pairs, with labels or scores.

    The `settings` are `train`, the file of the training examples, and optionally `validation` and
    `test`: without test data, the training data are tested by cross-validation, and without
    validation data, cross-validation chooses the penalty; `group`, the column of the groups whose
    examples are in one fold; and `name`, by default the name of the file `train`. The rest are
    settings of the reader `single_sentence`, if there is a `text` among them, or else
    `sentence_pair`, by default with the format `table`. A `score` needs a whole `score_range`.

    Raise `ConfigurationError` for other settings.
    """
    rest = dict(settings)
    files = {part: rest.pop(part, None) for part in ("train", "validation", "test")}
    _check_files(files)
    stem = Path(files["train"]).name.partition(".")[0]
    name = rest.pop("name", None) or stem
    group = rest.pop("group", None)
    if group is not None:
        rest["id"] = group
    estimator: Estimator = LabelClassifier()
    target = "label"
    if rest.get("score") is not None:
        lowest, highest = _whole_range(rest.get("score_range"))
        estimator = GradeRegressor(lowest, highest)
        target = "score"
        rest.setdefault("label", None)
    rest.setdefault("type", "single_sentence" if "text" in rest else "sentence_pair")
    rest.setdefault("format", "table")
    rest.setdefault("tokenizer", "whitespace")
    reader = DatasetReader.from_params(Params(rest))

    paths = {part: file for part, file in files.items() if file is not None}

    def read(folder: Path) -> Splits:
        return _splits_of(reader, paths, target)

    return TransferTask(str(name), "own", read, estimator, has_groups=group is not None)


def _check_files(files: Mapping[str, Any]) -> None:
    """Raise `ConfigurationError` for files of an own task that are missing or not named."""
    given = [file for file in files.values() if file is not None]
    if files["train"] is None:
        raise ConfigurationError('a task of your own needs the file "train" of its examples')
    if not all(isinstance(file, str) and file for file in given):
        raise ConfigurationError(
            f"train, validation and test must be names of files, got {list(files.values())}"
        )
    if files["validation"] is not None and files["test"] is None:
        raise ConfigurationError('a task with the file "validation" needs the file "test", too')


def _whole_range(score_range: Any) -> tuple[int, int]:
    """Return the lowest and the highest score. Raise `ConfigurationError` for other ranges."""
    is_pair = isinstance(score_range, (list, tuple)) and len(score_range) == 2
    is_whole = is_pair and all(type(grade) is int for grade in score_range)
    if not is_whole or not 1 <= score_range[1] - score_range[0] <= MAX_GRADES:
        raise ConfigurationError(
            'a score needs a "score_range", the lowest and the highest one as whole numbers, at '
            f"most {MAX_GRADES} apart, as in [0, 5]; got {shorten(score_range)}"
        )
    return score_range[0], score_range[1]
