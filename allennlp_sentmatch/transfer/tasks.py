"""The ten tasks of SuBiLSTM's table 2, with the data sets' own splits, as SentEval uses them.

Conneau and Kiela 2018, "SentEval: An Evaluation Toolkit for Universal Sentence Representations",
arXiv:1803.05449.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Optional

import numpy
from allennlp.data import DatasetReader, Instance
from allennlp.data.tokenizers import WhitespaceTokenizer

from allennlp_sentmatch.data.dataset_readers import (
    SentencePairReader,
    SentimentTreesReader,
    SingleSentenceReader,
)
from allennlp_sentmatch.transfer.data_folder import find_file
from allennlp_sentmatch.transfer.splits import Examples, Splits


@dataclass(frozen=True)
class Task:
    """A task that sentence vectors are tested with.

    # Parameters

    name : `str`
    data_set : `str`
        Tasks of one data set have the same sentences.
    read : `Callable[[Path], Splits]`
        Reads the examples from a folder of data sets.
    grades : `tuple[int, int]`, optional (default = `None`)
        The lowest and the highest score, if scores are to be predicted and not labels.
    positive_label : `str`, optional (default = `None`)
        The label of which F1 is reported, too.
    """

    name: str
    data_set: str
    read: Callable[[Path], Splits]
    grades: Optional[tuple[int, int]] = None
    positive_label: Optional[str] = None


def _examples(reader: DatasetReader, path: Any, target: str) -> Examples:
    """The examples that a reader finds; `target` is `"label"` or `"score"`."""
    sentences, targets = [], []
    for instance in reader.read(path):
        metadata = instance["metadata"].metadata  # type: ignore[attr-defined]
        pair = "premise" in metadata
        keys = ("premise", "hypothesis") if pair else ("text",)
        sentences.append(tuple(metadata[key] for key in keys))
        targets.append(metadata[target] if target == "score" else _label(instance))
    return Examples(sentences, numpy.array(targets))


def _label(instance: Instance) -> Any:
    return instance["label"].label  # type: ignore[attr-defined]


def _read_two_files(folder: Path, data_set: str, name: str, labels: tuple[str, str]) -> Splits:
    files = {label: find_file(folder, data_set, f"{name}.{label}") for label in labels}
    reader = SingleSentenceReader("two_files", tokenizer=WhitespaceTokenizer())
    return Splits(_examples(reader, files, "label"))


def _read_trec(folder: Path) -> Splits:
    reader = SingleSentenceReader("trec", tokenizer=WhitespaceTokenizer())
    train, test = (
        _examples(reader, find_file(folder, "TREC", name), "label")
        for name in ("train_5500.label", "TREC_10.label")
    )
    return Splits(train, test=test)


def _read_sst(folder: Path, phrases: bool) -> Splits:
    """Polarity. The training phrases are the 67,349 of SentEval and GLUE: every distinct phrase of
    the sentences that are not neutral, unless it is neutral.
    """
    sentence_reader = SentimentTreesReader("2-class")
    train_reader = (
        SentimentTreesReader("2-class", use_subtrees=True, use_neutral_sentences=False)
        if phrases
        else sentence_reader
    )
    train, validation, test = (
        _examples(reader, find_file(folder, "SST", f"{name}.txt"), "label")
        for name, reader in (
            ("train", train_reader),
            ("dev", sentence_reader),
            ("test", sentence_reader),
        )
    )
    return Splits(_distinct(train) if phrases else train, validation, test)


def _distinct(examples: Examples) -> Examples:
    """Each sentence with each of its labels once."""
    rows = dict.fromkeys(zip(examples.sentences, examples.targets))
    return Examples([row[0] for row in rows], numpy.array([row[1] for row in rows]))


def _read_pairs(folder: Path, data_set: str, format: str, names: list[str], target: str) -> Splits:
    """Pairs in files for training, testing and, between the two, validation if there are three."""
    reader = SentencePairReader(format, tokenizer=WhitespaceTokenizer())
    train, *validation, test = (
        _examples(reader, find_file(folder, data_set, name), target) for name in names
    )
    return Splits(train, validation[0] if validation else None, test)


_MRPC = ["msr_paraphrase_train.txt", "msr_paraphrase_test.txt"]
_SICK = ["SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"]
_STS = ["sts-train.csv", "sts-dev.csv", "sts-test.csv"]


def _two_files(data_set: str, name: str, labels: tuple[str, str] = ("neg", "pos")) -> Task:
    read = partial(_read_two_files, data_set=data_set, name=name, labels=labels)
    return Task(data_set, data_set, read)


def _pairs(name: str, data_set: str, format: str, files: list[str], **settings: Any) -> Task:
    target = "score" if "grades" in settings else "label"
    read = partial(_read_pairs, data_set=data_set, format=format, names=files, target=target)
    return Task(name, data_set, read, **settings)


TASKS = (
    _two_files("MR", "rt-polarity"),
    _two_files("CR", "custrev"),
    _two_files("SUBJ", "subj", ("objective", "subjective")),
    _two_files("MPQA", "mpqa"),
    Task("SST", "SST", partial(_read_sst, phrases=True)),
    Task("TREC", "TREC", _read_trec),
    _pairs("MRPC", "MRPC", "msrp", _MRPC, positive_label="1"),
    _pairs("SICK-R", "SICK", "sick", _SICK, grades=(1, 5)),
    _pairs("SICK-E", "SICK", "sick", _SICK),
    _pairs("STSB", "STS-B", "sts", _STS, grades=(0, 5)),
)
"""The tasks in the order of the table."""

SST_SENTENCES = replace(
    next(task for task in TASKS if task.name == "SST"), read=partial(_read_sst, phrases=False)
)
"""SST, with the training sentences only instead of all phrases."""
