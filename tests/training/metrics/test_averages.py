"""Averages computed by hand: of vectors, errors, and rankings of all or some questions."""

import math

import pytest
import torch
from allennlp.common import Params
from allennlp.training.metrics import Metric

from allennlp_sentmatch.training.metrics import MeanAveragePrecision

# Cosines 1, 0, -1, 0.6 and, with a zero vector, 0.
FIRST = torch.tensor([[2.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]).requires_grad_()
SECOND = torch.tensor([[5.0, 0.0], [0.0, 3.0], [-2.0, -2.0], [3.0, 4.0], [1.0, 2.0]])


# Four questions: ranked right, wrong, right; all wrong; all right; wrong, right.
SCORES = torch.tensor([[0.9, 0.5, 0.1], [0.3, 0.2, 0.0], [0.4, 0.1, 0.0], [0.8, 0.1, 0.0]])
LABELS = torch.tensor([[1, 0, 1], [0, 0, -1], [1, 1, -1], [0, 1, -1]])
MASK = LABELS >= 0
AVERAGE_PRECISIONS = [(1 + 2 / 3) / 2, 0.0, 1.0, 0.5]
RECIPROCAL_RANKS = [1.0, 0.0, 1.0, 0.5]
COUNTED = {
    "all": [0, 1, 2, 3],
    "answered": [0, 2, 3],
    "clean": [0, 3],
}


ERRORS = torch.tensor([1.0, 2.0, 5.0, 3.0], requires_grad=True), torch.tensor([1.0, 4.0, 2.0, 9.0])


@pytest.mark.parametrize(
    ("settings", "tensors", "values"),
    [
        ({"type": "mean_cosine"}, (FIRST, SECOND), [1, 0, -1, 0.6, 0]),
        ({"type": "mean_cosine"}, (FIRST, SECOND, torch.arange(5) % 3 == 0), [1, 0.6]),
        ({"type": "mean_squared_error"}, (*ERRORS, torch.arange(4) < 3), [0, 4, 9]),
        *(
            (
                {"type": name, "questions": questions},
                (SCORES, LABELS, MASK),
                [values[i] for i in COUNTED[questions]],
            )
            for questions in COUNTED
            for name, values in [
                ("mean_average_precision", AVERAGE_PRECISIONS),
                ("mean_reciprocal_rank", RECIPROCAL_RANKS),
            ]
        ),
    ],
)
def test_means_by_hand_whatever_the_batches(settings, tensors, values):
    metric = Metric.from_params(Params(settings))
    assert math.isnan(metric.get_metric())
    metric(*(tensor[:1] for tensor in tensors))
    metric(*(tensor[1:] for tensor in tensors))
    mean = pytest.approx(sum(values) / len(values))
    assert [metric.get_metric(), metric.get_metric(reset=True)] == [mean, mean]
    assert math.isnan(metric.get_metric())


def test_all_questions_count_by_default_as_in_trec_eval():
    metric = MeanAveragePrecision()
    metric(SCORES, LABELS, MASK)
    assert metric.get_metric() == pytest.approx(sum(AVERAGE_PRECISIONS) / 4)
