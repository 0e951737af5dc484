"""Correlations of predicted with gold scores."""

from typing import Any

import numpy
import torch
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric
from scipy.stats import rankdata
from torch import Tensor, distributed


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
        """Add scores (B,)."""
        pairs = torch.stack([predictions, gold_labels]).detach().double()  # (2, B)
        parts: list[Any] = [pairs.cpu().numpy()]
        if is_distributed():
            own = parts[0]
            parts = [None] * distributed.get_world_size()
            distributed.all_gather_object(parts, own)
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
    sides = {"pearson": (first, second), "spearman": (rankdata(first), rankdata(second))}
    return {name: float(numpy.corrcoef(*pair)[0, 1]) for name, pair in sides.items()}
