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
SCORES = torch.tensor([[0.9, 0.5, 0.1], [0.3, 0.2, 0.0], [0.8, 0.1, 0.0]])
LABELS = torch.tensor([[1, 0, 1], [0, 0, -1], [0, 1, -1]])


def rows(*tensors: torch.Tensor, part: slice) -> tuple[torch.Tensor, ...]:
    return tuple(tensor[part] for tensor in tensors)


METRICS = {
    AnswerOverlap: [
        [(["the old king", "he walked", ""], [["The king."], ["He was walking."], ["nothing"]])],
        [(["because it was cold"], [["It was very cold.", "cold"]])],
    ],
    Distinct: [[([["a", "man", "sleeps"]],)], [([["a", "man", "runs"]],)]],
    # The workers have different numbers of vectors.
    MeanCosine: [
        [rows(VECTORS, OTHERS, part=slice(0, 2)), rows(VECTORS, OTHERS, part=slice(3, 4))],
        [rows(VECTORS, OTHERS, part=slice(2, 3)), rows(VECTORS, OTHERS, part=slice(4, 5))],
    ],
    MeanSquaredError: [
        [rows(VECTORS, OTHERS, part=slice(0, 1))],
        [rows(VECTORS, OTHERS, part=slice(1, 4))],
    ],
    # A worker has a question that does not count.
    MeanAveragePrecision: [
        [rows(SCORES, LABELS, LABELS >= 0, part=slice(0, 1))],
        [rows(SCORES, LABELS, LABELS >= 0, part=slice(1, 3))],
    ],
    MeanReciprocalRank: [
        [rows(SCORES, LABELS, LABELS >= 0, part=slice(0, 2))],
        [rows(SCORES, LABELS, LABELS >= 0, part=slice(2, 3))],
    ],
    SacreBleu: [
        [(["The cat sits on the mat today."], ["The cat sat on the mat today."])],
        [(["Two dogs run over a field."], ["Two dogs run across a field."])],
    ],
    ScoreCorrelations: [
        [rows(VECTORS[:, 0], OTHERS[:, 0], part=slice(0, 1))],
        [rows(VECTORS[:, 0], OTHERS[:, 0], part=slice(1, 5))],
    ],
}
"""By metric, what each of two workers calls it with."""

SETTINGS = {
    Distinct: {"n": 1},
    MeanAveragePrecision: {"questions": "clean"},
    MeanReciprocalRank: {"questions": "answered"},
}


def measure(kind: Any, *calls: Any) -> Any:
    metric = kind(**SETTINGS.get(kind, {}))
    for arguments in calls:
        metric(*arguments)
    return metric.get_metric()


def work(rank: int, kind: Any, address: str, queue: Any) -> None:
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    queue.put(measure(kind, *METRICS[kind][rank]))
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize("kind", METRICS, ids=lambda kind: kind.__name__)
def test_two_workers_have_the_figures_of_one_process(kind: Any, tmp_path: Path):
    # Forks need not import AllenNLP again.
    queue = torch.multiprocessing.get_context("fork").SimpleQueue()
    torch.multiprocessing.start_processes(
        work, (kind, f"file://{tmp_path}/store", queue), nprocs=2, start_method="fork"
    )
    expected = pytest.approx(measure(kind, *METRICS[kind][0], *METRICS[kind][1]), abs=1e-4)
    assert [queue.get(), queue.get()] == [expected, expected]
