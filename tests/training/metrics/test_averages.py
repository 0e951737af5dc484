"""Averages by hand, in one process and in two."""

import pytest
import torch
from allennlp.common import Params
from allennlp.training.metrics import Metric

import allennlp_sentmatch  # noqa: F401  (registers the metric)
from allennlp_sentmatch.training.metrics import MeanCosine

# Cosines 1, 0, -1, 0.6 and, with a zero vector, 0.
FIRST = torch.tensor([[2.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
SECOND = torch.tensor([[5.0, 0.0], [0.0, 3.0], [-2.0, -2.0], [3.0, 4.0], [1.0, 2.0]])


def test_the_mean_over_vectors_whatever_their_batch():
    metric = Metric.from_params(Params({"type": "mean_cosine"}))
    metric(FIRST[:1], SECOND[:1])
    metric(FIRST[1:], SECOND[1:])
    assert metric.get_metric() == pytest.approx(0.6 / 5)
    assert metric.get_metric(reset=True) == pytest.approx(0.6 / 5)
    assert metric.get_metric() == 0.0


def test_masked_vectors_do_not_count():
    metric = MeanCosine()
    metric(FIRST, SECOND, torch.tensor([True, False, False, True, False]))
    assert metric.get_metric() == pytest.approx(1.6 / 2)


def test_no_gradient_is_kept():
    metric = MeanCosine()
    metric(FIRST.clone().requires_grad_(), SECOND)
    assert isinstance(metric.get_metric(), float)


def test_mean_squared_error():
    metric = Metric.from_params(Params({"type": "mean_squared_error"}))
    assert metric.get_metric() == 0.0
    metric(torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 4.0]))
    metric(torch.tensor([5.0, 3.0]), torch.tensor([2.0, 9.0]), torch.tensor([True, False]))
    assert metric.get_metric() == pytest.approx((0 + 4 + 9) / 3)
    assert metric.get_metric(reset=True) == pytest.approx((0 + 4 + 9) / 3)
    assert metric.get_metric() == 0.0
