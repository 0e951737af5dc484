"""Averages over predictions."""

import math
from typing import Callable, Optional

import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Average, Metric
from torch import Tensor
from torch.nn.functional import cosine_similarity

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn.checks import check_choice
from allennlp_sentmatch.nn.ranking import average_precision, reciprocal_rank

QUESTIONS = ("all", "answered", "clean")


class MaskedAverage(Average):
    """An `Average` over all workers; NaN if nothing counts. Not registered itself."""

    def get_metric(self, reset: bool = False) -> float:
        """Return the average."""
        count = self._count
        average = float(super().get_metric(reset))
        return average if count else math.nan

    def add(self, values: Tensor, mask: Optional[Tensor] = None) -> None:
        """Add values, except those that a mask of the same shape excludes."""
        if mask is not None:
            values = values[mask]
        self._total_value += float(dist_reduce_sum(values.detach().sum()))
        self._count += int(dist_reduce_sum(values.numel()))


@Metric.register("mean_cosine")
class MeanCosine(MaskedAverage):
    """The mean cosine between predicted and gold vectors, such as a teacher's.

    The cosine of a zero vector with any other is 0.
    """

    def __call__(  # type: ignore[override]
        self, predictions: Tensor, gold_labels: Tensor, mask: Optional[Tensor] = None
    ) -> None:
        """Add vectors, (B, E) each; a `mask` (B,) is `False` for a pair that does not count."""
        self.add(cosine_similarity(predictions.double(), gold_labels.double(), dim=1), mask)


@Metric.register("mean_squared_error")
class MeanSquaredError(MaskedAverage):
    """The mean of (prediction - target)^2."""

    def __call__(  # type: ignore[override]
        self, predictions: Tensor, gold_labels: Tensor, mask: Optional[Tensor] = None
    ) -> None:
        """Add predictions and targets of the same shape, and a mask of that shape."""
        self.add((predictions.double() - gold_labels.double()) ** 2, mask)


class RankingMetric(MaskedAverage):
    """The mean over questions of a measure of how their candidates are ranked.

    As in trec_eval, a question without a relevant candidate counts as 0, and of candidates with
    equal scores, the later one ranks first. Not registered itself.

    # Parameters

    questions : `str`, optional (default = `"all"`)
        Which questions count. `"all"`; `"answered"`: those with a relevant candidate, as is usual
        for WikiQA (Yang, Yih and Meek 2015); `"clean"`: those with a relevant and an irrelevant
        candidate, as is usual for TrecQA (Rao, He and Lin 2016).
    """

    _measure: Callable[[Tensor, Tensor, Tensor], Tensor]
    """Return the measure of each question (B,), given scores, relevance and mask, (B, K) each."""

    def __init__(self, questions: str = "all") -> None:
        with configuration_errors():
            check_choice(*QUESTIONS, questions=questions)
        super().__init__()
        self._questions = questions

    def __call__(  # type: ignore[override]
        self, predictions: Tensor, gold_labels: Tensor, mask: Optional[Tensor] = None
    ) -> None:
        """Add the rankings of B questions by the scores of their candidates, (B, K).

        The labels (B, K) are 1 for relevant candidates; a `mask` (B, K) is `False` for padding.
        """
        if mask is None:
            mask = torch.ones_like(predictions, dtype=torch.bool)
        relevant = gold_labels == 1
        counted = relevant.new_ones(len(relevant))
        if self._questions != "all":
            counted = (relevant & mask).any(dim=1)
        if self._questions == "clean":
            counted = counted & (~relevant & mask).any(dim=1)
        self.add(self._measure(predictions, relevant, mask), counted)


@Metric.register("mean_average_precision")
class MeanAveragePrecision(RankingMetric):
    """Mean average precision (MAP) as trec_eval computes it; see `RankingMetric`."""

    _measure = staticmethod(average_precision)


@Metric.register("mean_reciprocal_rank")
class MeanReciprocalRank(RankingMetric):
    """Mean reciprocal rank (MRR) as trec_eval computes it; see `RankingMetric`."""

    _measure = staticmethod(reciprocal_rank)
