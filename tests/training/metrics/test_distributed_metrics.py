"""Metrics in distributed training have the figures of a single process."""

from pathlib import Path
from typing import Any

import pytest
import torch.distributed
import torch.multiprocessing

from allennlp_sentmatch.training.metrics import (
    AnswerOverlap,
    Distinct,
    MeanAveragePrecision,
    MeanCosine,
    MeanReciprocalRank,
    MeanSquaredError,
    SacreBleu,
    ScoreCorrelations,
)

VECTORS = torch.tensor([[2.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
OTHERS = torch.tensor([[5.0, 0.0], [0.0, 3.0], [-2.0, -2.0], [3.0, 4.0], [1.0, 2.0]])
SCORES = torch.tensor([[0.9, 0.5, 0.1], [0.8, 0.1, 0.0], [0.3, 0.2, 0.0]])
LABELS = torch.tensor([[1, 0, 1], [0, 1, -1], [0, 0, -1]])


METRICS = {
    AnswerOverlap: (
        ["the old king", "he walked", "", "because it was cold"],
        [["The king."], ["He was walking."], ["nothing"], ["It was very cold.", "cold"]],
    ),
    Distinct: ([["a", "man", "sleeps"], ["a", "man", "runs"]],),
    MeanCosine: (VECTORS, OTHERS),
    MeanSquaredError: (VECTORS, OTHERS),
    MeanAveragePrecision: (SCORES, LABELS, LABELS >= 0),
    MeanReciprocalRank: (SCORES, LABELS, LABELS >= 0),
    SacreBleu: (
        ["The cat sits on the mat today.", "Two dogs run over a field."],
        ["The cat sat on the mat today.", "Two dogs run across a field."],
    ),
    ScoreCorrelations: (VECTORS[:, 0], OTHERS[:, 0]),
}
"""The examples for each metric; the first worker has the last example, which may not count."""

SETTINGS = {
    Distinct: {"n": 1},
    MeanAveragePrecision: {"questions": "clean"},
    MeanReciprocalRank: {"questions": "answered"},
}


def measure(kind: Any, *parts: slice) -> Any:
    metric = kind(**SETTINGS.get(kind, {}))
    for part in parts:
        metric(*(values[part] for values in METRICS[kind]))
    return metric.get_metric()


PARTS = (slice(-1, None), slice(0, -1))


def work(rank: int, kind: Any, address: str, queue: Any) -> None:
    torch.distributed.init_process_group(
        "gloo",
        init_method=address,
        rank=rank,
        world_size=2,
    )
    queue.put(measure(kind, PARTS[rank]))
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize("kind", METRICS, ids=lambda kind: kind.__name__)
def test_two_workers_have_the_figures_of_one_process(kind: Any, tmp_path: Path):
    # Forks need not import AllenNLP again.
    queue = torch.multiprocessing.get_context("fork").SimpleQueue()
    torch.multiprocessing.start_processes(
        work, (kind, f"file://{tmp_path}/store", queue), nprocs=2, start_method="fork"
    )
    expected = pytest.approx(measure(kind, *PARTS), abs=1e-4)
    assert [queue.get(), queue.get()] == [expected, expected]
