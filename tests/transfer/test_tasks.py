"""Tasks have the published numbers of examples, and their own labels and scores."""

from collections import Counter
from unittest import mock

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.transfer import SentenceVectors, TransferBenchmark, benchmark
from allennlp_sentmatch.transfer.tasks import SST_SENTENCES, TASKS, find_file, own_task
from tests.transfer.small_data import NUM_EXAMPLES, write_small_data


def sizes(splits):
    return tuple(
        part and len(part.targets) for part in (splits.train, splits.validation, splits.test)
    )


PUBLISHED_SIZES = {
    "MR": (10662, None, None),
    "CR": (3775 - 4, None, None),  # four lines are blank
    "SUBJ": (10000, None, None),
    "MPQA": (10606 - 3, None, None),  # three lines are blank
    "SST": (67349, 872, 1821),
    "TREC": (5452, None, 500),
    "MRPC": (4076, None, 1725),
    "SICK-R": (4500, 500, 4927),
    "SICK-E": (4500, 500, 4927),
    "STSB": (5749, 1500, 1379),
}


SLOW = ("SST", "SUBJ", "MR", "MPQA", "SICK-R")  # SICK-E has the files of SICK-R
EVERY_TASK = [
    pytest.param(task, marks=[pytest.mark.slow] if task.name in SLOW else [], id=task.name)
    for task in TASKS
]


@pytest.mark.parametrize("task", EVERY_TASK)
def test_published_sizes(task, shared_data):
    assert sizes(task.read(shared_data)) == PUBLISHED_SIZES[task.name]


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    folder = write_small_data(tmp_path_factory.mktemp("data"))
    assert sizes(SST_SENTENCES.read(folder)) == (2 * NUM_EXAMPLES,) * 3
    return {task.name: task.read(folder) for task in TASKS}


def test_labels_and_scores(splits):
    by_label = {name: Counter(one.train.targets.tolist()) for name, one in splits.items()}
    assert by_label["MR"] == {"neg": NUM_EXAMPLES, "pos": NUM_EXAMPLES}
    assert by_label["SUBJ"] == {"objective": NUM_EXAMPLES, "subjective": NUM_EXAMPLES}
    assert by_label["TREC"] == dict.fromkeys(("LOC", "HUM", "NUM"), NUM_EXAMPLES)
    assert by_label["MRPC"] == {"0": NUM_EXAMPLES, "1": NUM_EXAMPLES}
    assert by_label["SICK-E"] == {"entailment": NUM_EXAMPLES, "neutral": NUM_EXAMPLES}
    assert by_label["SICK-R"] == {4.5: NUM_EXAMPLES, 1.5: NUM_EXAMPLES}
    assert by_label["STSB"] == {5.0: NUM_EXAMPLES, 0.0: NUM_EXAMPLES}
    # The phrases "good" and "bad" count once, and the phrases of neutral sentences do not.
    assert by_label["SST"] == {"0": NUM_EXAMPLES + 1, "1": NUM_EXAMPLES + 1}


def test_sentences_are_as_they_are_in_the_file(splits):
    assert splits["MR"].train.sentences[0] == ("rt-polarity0 is bad",)
    assert splits["TREC"].train.sentences[0] == ("q0 is place",)
    assert splits["MRPC"].train.sentences[2] == ("red train", "green 2")
    assert splits["SICK-E"].test.sentences[3] == ("green test_annotated", "red 3")
    assert splits["SST"].validation.sentences[:2] == [("dev0 good",), ("dev0 bad",)]
    sentences = splits["STSB"].sentences()
    assert len(sentences) == len(set(sentences))
    assert sentences[:3] == ["red train", "red", "green train"]
    assert {"red dev", "green test"} <= set(sentences)


@pytest.mark.parametrize(
    ("path", "data_set", "name"),
    [
        ("MR/rt-polarity.neg", "MR", "rt-polarity.neg"),
        ("mr/rt-polarity.neg.gz", "MR", "rt-polarity.neg"),
        ("MRPC/msr_paraphrase_train.txt", "MRPC", "msr_paraphrase_train.txt"),
        ("msrp/msr_paraphrase_train.txt", "MRPC", "msr_paraphrase_train.txt"),
        ("stsb/sts-dev.csv", "STS-B", "sts-dev.csv"),
        ("STS/STSBenchmark/sts-dev.csv", "STS-B", "sts-dev.csv"),
    ],
)
def test_a_file_is_found(tmp_path, path, data_set, name):
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).touch()
    assert find_file(tmp_path, data_set, name) == tmp_path / path
    (tmp_path / "trec").touch()  # no folder
    with pytest.raises(ConfigurationError, match="there is no trec/x,"):
        find_file(tmp_path, "TREC", "x")


WORDS = ("good", "bad", "fine", "poor")


def rows(word, number):
    return [f"{word} {i}\tx {i}\t{'ab'[number % 2]}\t{number}" for i in range(9)]


@pytest.fixture
def own_file(tmp_path):
    """Pairs with a label and a score that depend on the first sentence's word."""
    path = tmp_path / "own.tsv"
    lines = ["one\ttwo\tlabel\tscore"] + [
        row for i, word in enumerate(WORDS) for row in rows(word, i)
    ]
    path.write_text("\n".join(lines))
    return str(path)


@pytest.mark.parametrize(
    "parts",
    [
        ["train"],
        ["train", "test"],
        ["train", "validation", "test"],
    ],
)
@pytest.mark.parametrize(
    ("columns", "metrics"),
    [
        ({"text": "one"}, {"accuracy"}),
        ({"sentence1": "one", "sentence2": "two"}, {"accuracy"}),
        (
            {"sentence1": "one", "sentence2": "two", "score": "score", "score_range": [0, 3]},
            {"pearson", "spearman"},
        ),
    ],
)
def test_own_data(own_file, tmp_path, parts, columns, metrics):
    def encode(sentences):
        return numpy.array([[word in s.split() for word in WORDS] for s in sentences], "f4")

    task = own_task({**dict.fromkeys(parts, own_file), **columns})
    report = TransferBenchmark(tmp_path, [task], num_folds=3).run(SentenceVectors(encode), "x")
    assert report.errors == {}
    assert report.results["own"].metrics == pytest.approx(dict.fromkeys(metrics, 1.0), abs=0.1)
    assert report.results["own"].num_training == 36
    header, _, row = report.as_markdown().splitlines()
    assert header == "| Model | own |" + " own, Spearman |" * (len(metrics) == 2)
    assert row.startswith("| x | 100.0 |" if metrics == {"accuracy"} else "| x | 1.000 |")


def test_examples_of_a_group_and_equal_ones_are_in_one_fold(tmp_path, monkeypatch):
    rows = ["text\tlabel\tbook", "a\tx\t1", "b\ty\t2", "A.\tx\t3", "c\ty\t1", "d\ty\t3"]
    (tmp_path / "own.tsv").write_text("\n".join(rows))
    predict = mock.Mock(side_effect=lambda estimator, train, *_, **settings: (train[1], []))
    monkeypatch.setattr(benchmark, "predict_with_best_penalty", predict)
    groups = {"book": [0, 1, 0, 0, 0], None: [0, 1, 0, 2, 3]}
    for column, expected in groups.items():
        task = own_task({"train": str(tmp_path / "own.tsv"), "text": "text", "group": column})
        vectors = SentenceVectors(lambda texts: numpy.ones((len(texts), 1), "f4"))
        TransferBenchmark(tmp_path).run_task(task, vectors)
        assert predict.call_args.kwargs["groups"].tolist() == expected
    (tmp_path / "own.tsv").write_text("\n".join([*rows, "e\ty\t"]))
    task = own_task({"train": str(tmp_path / "own.tsv"), "text": "text", "group": "book"})
    with pytest.raises(ValueError, match="the group of pair 5 must be a string or a number"):
        TransferBenchmark(tmp_path).run_task(task, vectors)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, 'needs the file "train"'),
        ({"train": "a.tsv", "validation": "b.tsv"}, 'needs the file "test", too'),
        ({"train": "a.tsv", "score": "s"}, 'needs a "score_range"'),
        ({"train": "a.tsv", "score": "s", "score_range": [0, 0.5]}, r"got \[0, 0.5\]"),
        ({"train": "a.tsv", "score": "s", "score_range": [5, 0]}, r"got \[5, 0\]"),
        ({"train": "a.tsv", "score": "s", "score_range": [0, 10**6]}, "at most 100 apart"),
        ({"train": "a.tsv", "test": ""}, "must be names of files"),
        ({"train": 7}, "must be names of files"),
        ({"train": "a.tsv", "lable": "s"}, "lable"),
    ],
)
def test_wrong_settings_of_an_own_task(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        own_task(settings)


def test_own_data_without_what_is_to_be_predicted(own_file, tmp_path):
    task = own_task({"train": own_file, "text": "one", "label": None})
    with pytest.raises(
        ConfigurationError, match=r"own\.tsv: the examples have no label to predict"
    ):
        task.read(tmp_path)
