"""The report has the figures and averages of the published tables."""

import json

import pytest

from allennlp_sentmatch.transfer import TransferReport
from allennlp_sentmatch.transfer.report import COLUMNS, TaskResult

# SuBiLSTM's table 2, the row of the BiLSTM (InferSent).
PUBLISHED = {
    "MR": {"accuracy": 0.811},
    "CR": {"accuracy": 0.863},
    "SUBJ": {"accuracy": 0.924},
    "MPQA": {"accuracy": 0.902},
    "SST": {"accuracy": 0.846},
    "TREC": {"accuracy": 0.882},
    "MRPC": {"accuracy": 0.762, "f1": 0.831},
    "SICK-R": {"pearson": 0.884, "spearman": 0.8},
    "SICK-E": {"accuracy": 0.863},
    "STSB": {"pearson": 0.758, "spearman": 0.7},
}


def report(**errors):
    results = {
        task: TaskResult(metrics, [0.1], 10, 5, 1.0)
        for task, metrics in PUBLISHED.items()
        if task not in errors
    }
    return TransferReport("BiLSTM", 4096, {"seed": 1}, results, errors)


def test_the_row_of_the_table():
    header, _, row = report().as_markdown().splitlines()
    assert header.split(" | ")[1:11] == list(COLUMNS)
    cells = row.strip("| ").split(" | ")
    assert " ".join(cells[:11]) == (
        "BiLSTM 81.1 86.3 92.4 90.2 84.6 88.2 76.2/83.1 0.884 86.3 0.758"
    )
    assert cells[11:13] == ["0.800", "0.700"]


def test_the_average_of_figure_2():
    """F1 for MRPC, 100 times Pearson's correlation, and accuracy."""
    expected = (81.1 + 86.3 + 92.4 + 90.2 + 84.6 + 88.2 + 83.1 + 88.4 + 86.3 + 75.8) / 10
    assert report().average == pytest.approx(expected)
    assert report().as_markdown().endswith(f"| {expected:.1f} |")


def test_a_failed_task_is_marked_and_there_is_no_average():
    failed = report(TREC="no file")
    assert failed.average is None
    cells = failed.as_markdown().splitlines()[2].split(" | ")
    assert cells[6] == "failed"
    assert "average" not in failed.as_markdown()
    data = json.loads(json.dumps(failed.as_json()))
    assert data["errors"] == {"TREC": "no file"}
    assert data["metrics"]["mrpc_f1"] == 0.831
    assert data["metrics"]["sick_r_pearson"] == 0.884
    assert data["vector_size"] == 4096
    assert data["tasks"]["MR"]["l2_penalties"] == [0.1]


@pytest.mark.parametrize(
    ("name", "metrics", "cell"),
    [
        ("MRPC", {"accuracy": 0.5}, "50.0"),
        ("SICK-R", {"accuracy": 0.25}, "25.0"),
        ("SICK-E", {"pearson": 0.5, "spearman": 0.25}, "0.500"),
    ],
)
def test_an_own_task_with_the_name_of_a_known_one(name, metrics, cell):
    """By default, `{"train": "MRPC.tsv"}` is called MRPC."""
    results = {name: TaskResult(metrics, [0.1], 10, 5, 1.0)}
    own = TransferReport("BiLSTM", 8, {}, results, {})
    row = own.as_markdown().splitlines()[2]
    assert row.strip("| ").split(" | ")[:2] == ["BiLSTM", cell]
    assert own.average is None
