"""Correlations of predicted with gold scores."""

from typing import Any

import numpy
import torch
from allennlp.training.metrics import Metric
from scipy.stats import rankdata
from torch import Tensor

from allennlp_sentmatch.training.workers import gather


class ScoreCorrelations(Metric):
    """Pearson's and Spearman's correlation over all workers, computed from all scores, in float64.

    AllenNLP's correlations refuse to work in distributed training. An undefined correlation, of
    fewer than two scores or of equal ones, is 0. Not registered itself.
    """

    _scores: Any
    """(2, N)"""

    def __init__(self) -> None:
        self.reset()

    def __call__(self, predictions: Tensor, gold_labels: Tensor) -> None:  # type: ignore[override]
        """Add scores, (B,) each."""
        pairs = torch.stack([predictions, gold_labels]).detach().double()  # (2, B)
        parts = gather(pairs.cpu().numpy())
        self._scores = numpy.concatenate([self._scores, *parts], axis=1)

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Return `{"pearson": ..., "spearman": ...}`."""
        first, second = self._scores
        if reset:
            self.reset()
        return correlations(first, second)

    def reset(self) -> None:
        """Remove all scores."""
        self._scores = numpy.empty((2, 0))


def correlations(first: Any, second: Any) -> dict[str, float]:
    """Return Pearson's and Spearman's correlation of arrays (N,), or 0 if undefined."""
    if len(first) < 2 or numpy.ptp(first) == 0 or numpy.ptp(second) == 0:
        return {"pearson": 0.0, "spearman": 0.0}
    return {
        "pearson": _pearson(first, second),
        "spearman": _pearson(rankdata(first), rankdata(second)),
    }


def _pearson(first: Any, second: Any) -> float:
    """Return Pearson's correlation of arrays (N,), neither of them constant."""
    return float(numpy.corrcoef(first, second)[0, 1])
