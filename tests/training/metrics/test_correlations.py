"""Correlations against SciPy's."""

import pytest
import torch
from scipy.stats import pearsonr, spearmanr

from allennlp_sentmatch.training.metrics import ScoreCorrelations

PREDICTIONS = torch.tensor([0.5, 1.5, 1.5, 4.0, 2.25], requires_grad=True)
GOLD = torch.tensor([1.0, 0.0, 2.0, 5.0, 5.0])


def test_of_several_batches():
    metric = ScoreCorrelations()
    for part in (slice(0, 1), slice(1, 5)):
        metric(PREDICTIONS[part], GOLD[part])
    pair = PREDICTIONS.detach().numpy(), GOLD.numpy()
    expected = {"pearson": pearsonr(*pair)[0], "spearman": spearmanr(*pair)[0]}
    assert metric.get_metric(reset=True) == pytest.approx(expected)
    assert metric.get_metric() == {"pearson": 0.0, "spearman": 0.0}


def test_not_defined_of_equal_scores():
    metric = ScoreCorrelations()
    metric(torch.full((3,), 0.1), GOLD[:3])
    assert metric.get_metric() == {"pearson": 0.0, "spearman": 0.0}
