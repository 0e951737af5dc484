"""The metric `mean_cosine`."""

from typing import Optional

import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from torch import Tensor

from allennlp_sentmatch.nn.distillation import cosines


@Metric.register("mean_cosine")
class MeanCosine(Metric):
    """The mean cosine of predicted vectors with the gold ones, such as a teacher's.

    The cosine of a zero vector with any other is 0.

    Registered as a `Metric` with name "mean_cosine".
    """

    def __init__(self) -> None:
        self.reset()

    def __call__(
        self, predictions: Tensor, gold_labels: Tensor, mask: Optional[Tensor] = None
    ) -> None:
        """Add the vectors of B sentences.

        # Parameters

        predictions, gold_labels : `Tensor`
            (B, E) each.
        mask : `Tensor`, optional (default = `None`)
            (B,), bool: `False` for a pair that does not count.
        """
        if mask is None:
            mask = torch.ones(len(predictions), dtype=torch.bool, device=predictions.device)
        predictions, gold_labels, mask = self.detach_tensors(predictions, gold_labels, mask)
        values = cosines(predictions.double(), gold_labels.double()).masked_fill(~mask, 0.0)
        self._total += float(dist_reduce_sum(values.sum()))
        self._count += int(dist_reduce_sum(mask.sum()))

    def get_metric(self, reset: bool = False) -> float:
        """The mean so far; 0 if there has been no vector."""
        mean = self._total / max(self._count, 1)
        if reset:
            self.reset()
        return mean

    def reset(self) -> None:
        """Forget all vectors."""
        self._total = 0.0
        self._count = 0
