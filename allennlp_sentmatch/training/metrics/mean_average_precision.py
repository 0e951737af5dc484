"""The metric `mean_average_precision`."""

from allennlp.training.metrics import Metric
from torch import Tensor

from allennlp_sentmatch.nn.ranking import average_precision
from allennlp_sentmatch.training.metrics.ranking_metric import RankingMetric


@Metric.register("mean_average_precision")
class MeanAveragePrecision(RankingMetric):
    """Mean average precision (MAP) as trec_eval computes it; see `RankingMetric`.

    Registered as a `Metric` with name "mean_average_precision".
    """

    def _measure(self, scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
        return average_precision(scores, relevant, mask)
