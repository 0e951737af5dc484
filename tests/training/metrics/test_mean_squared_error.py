import pytest
import torch
from allennlp.common import Params
from allennlp.training.metrics import Metric

from allennlp_sentmatch.training.metrics import MeanSquaredError
from tests.training.metrics.workers import in_two_workers


def test_by_hand():
    metric = Metric.from_params(Params({"type": "mean_squared_error"}))
    assert metric.get_metric() == 0.0
    metric(torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 4.0]))
    metric(torch.tensor([5.0, 3.0]), torch.tensor([2.0, 9.0]), torch.tensor([True, False]))
    assert metric.get_metric() == pytest.approx((0 + 4 + 9) / 3)
    assert metric.get_metric(reset=True) == pytest.approx((0 + 4 + 9) / 3)
    assert metric.get_metric() == 0.0


def measure(rank):
    metric = MeanSquaredError()
    metric(torch.zeros(1 + rank), torch.full((1 + rank,), 2.0 + rank))
    return metric.get_metric()


def test_distributed(tmp_path):
    assert in_two_workers(measure, tmp_path) == pytest.approx([(4 + 2 * 9) / 3] * 2)
