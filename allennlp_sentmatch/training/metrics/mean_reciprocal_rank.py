"""The metric `mean_reciprocal_rank`."""

from allennlp.training.metrics import Metric
from torch import Tensor

from allennlp_sentmatch.nn.ranking import reciprocal_rank
from allennlp_sentmatch.training.metrics.ranking_metric import RankingMetric


@Metric.register("mean_reciprocal_rank")
class MeanReciprocalRank(RankingMetric):
    """Mean reciprocal rank (MRR) as trec_eval computes it; see `RankingMetric`.

    Registered as a `Metric` with name "mean_reciprocal_rank".
    """

    def _measure(self, scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
        return reciprocal_rank(scores, relevant, mask)
