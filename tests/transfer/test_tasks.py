"""The tasks read the published data sets."""

from collections import Counter

import pytest

from allennlp_sentmatch.transfer.tasks import SST_SENTENCES, TASKS
from tests.transfer.small_data import NUM_EXAMPLES, write_small_data

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


def sizes(splits):
    return tuple(
        part and len(part.targets) for part in (splits.train, splits.validation, splits.test)
    )


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_published_sizes(task, shared_data):
    splits = task.read(shared_data)
    assert sizes(splits) == PUBLISHED_SIZES[task.name]
    for part in (splits.train, splits.validation, splits.test):
        if part is not None:
            assert len(part.sentences) == len(part.targets)
            assert (part.targets.dtype.kind == "f") == (task.grades is not None)


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    folder = write_small_data(tmp_path_factory.mktemp("data"))
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
    # The phrases "good" and "bad" count once, and not those of neutral sentences.
    assert by_label["SST"] == {"0": NUM_EXAMPLES + 1, "1": NUM_EXAMPLES + 1}


def test_the_sentences_of_sst(tmp_path):
    assert sizes(SST_SENTENCES.read(write_small_data(tmp_path))) == (2 * NUM_EXAMPLES,) * 3


def test_sentences_are_as_they_are_in_the_file(splits):
    assert splits["MR"].train.sentences[0] == ("rt-polarity0 is bad",)
    assert splits["TREC"].train.sentences[0] == ("q0 is place",)
    assert splits["MRPC"].train.sentences[2] == ("red train", "green 2")
    assert splits["SICK-E"].test.sentences[3] == ("green test_annotated", "red 3")
    assert splits["SST"].validation.sentences[:2] == [("dev0 good",), ("dev0 bad",)]


def test_the_distinct_sentences_of_all_parts(splits):
    sentences = splits["STSB"].sentences()
    assert len(sentences) == len(set(sentences))
    assert sentences[:3] == ["red train", "red", "green train"]
    assert {"red dev", "green test"} <= set(sentences)
