"""Averages over predictions. Without any, they are 0."""

from typing import Optional

import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Average, Metric
from torch import Tensor

from allennlp_sentmatch.nn.distillation import cosines


@Metric.register("mean_cosine")
class MeanCosine(Average):
    """The mean cosine of predicted vectors with the gold ones, such as a teacher's.

    The cosine of a zero vector with any other is 0.

    Registered as a `Metric` with name "mean_cosine".
    """

    def __call__(  # type: ignore[override]
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
        self._total_value += float(dist_reduce_sum(values.sum()))
        self._count += int(dist_reduce_sum(mask.sum()))


@Metric.register("mean_squared_error")
class MeanSquaredError(Average):
    """The mean of (prediction - target)^2.

    Registered as a `Metric` with name "mean_squared_error".
    """

    def __call__(  # type: ignore[override]
        self, predictions: Tensor, gold_labels: Tensor, mask: Optional[Tensor] = None
    ) -> None:
        """Add predictions and targets of the same shape, and a mask of that shape."""
        predictions, gold_labels = self.detach_tensors(predictions, gold_labels)
        errors = (predictions.double() - gold_labels.double()) ** 2
        if mask is not None:
            errors = errors[mask]
        self._total_value += dist_reduce_sum(errors.sum().item())
        self._count += dist_reduce_sum(errors.numel())
