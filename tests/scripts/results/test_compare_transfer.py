"""Two rows of transfer are compared by the seeds that both have."""

import pytest

from scripts.results import compare_transfer

TASKS = [
    "mr_accuracy", "cr_accuracy", "subj_accuracy", "mpqa_accuracy", "sst_accuracy",
    "trec_accuracy", "mrpc_f1", "sick_r_pearson", "sick_e_accuracy", "stsb_pearson",
]  # fmt: skip


def row(model, averages, gains):
    """A row whose means are 0.5 plus each task's gain."""
    tasks = {
        task: [0.5 + gain - 0.01, *[0.5 + gain] * (len(averages) - 2), 0.5 + gain + 0.01]
        for task, gain in zip(TASKS, gains)
    }
    # Figures that are not compared.
    others = {"mrpc_accuracy": [0.0] * len(averages), "stsb_spearman": [0.0] * len(averages)}
    seeds = list(range(1, len(averages) + 1))
    return {
        "model": model,
        "seeds": seeds,
        "metrics": {**tasks, **others, "average": averages},
    }


# Of the 2^10 combinations of signs, the smaller sum of ranks is 0 in two and at most 1 in four.
@pytest.mark.parametrize(
    ("gains", "tasks", "p"),
    [
        ([0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10], "10 of 10", 2 / 1024),
        ([-0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10], "9 of 10", 4 / 1024),
    ],
)
def test_difference_spread_and_test(gains, tasks, p):
    higher = row("X", [80.0, 82.0, 84.0], gains)
    lower = row("Y", [79.0, 79.5, 80.0], [0.0] * 10)
    record = compare_transfer.compare(higher, lower)
    assert record["average_higher"] == "82.0 ± 2.0"
    assert record["average_lower"] == "79.5 ± 0.5"
    assert record["difference"] == "+2.5 ± 2.1"  # the root of 4 + 0.25
    assert record["tasks"] == tasks
    assert record["p"] == f"{p:.3f}"
    assert record["seeds"] == "1, 2, 3"
    assert compare_transfer.compare(lower, higher)["difference"] == "-2.5 ± 2.1"


def test_seeds_that_both_rows_have():
    higher = row("X", [80.0, 82.0, 84.0], [0.1] * 10)
    lower = row("Y", [70.0, 79.0], [0.0] * 10)
    lower["seeds"] = [3, 2]
    record = compare_transfer.compare(higher, lower)
    assert record["average_higher"] == "83.0 ± 1.4"
    assert record["average_lower"] == "74.5 ± 6.4"
    assert record["seeds"] == "2, 3"
