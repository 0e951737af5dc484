"""Averages over predictions. Without any, they are 0."""

from typing import Optional

from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Average, Metric
from torch import Tensor

from allennlp_sentmatch.nn.distillation import cosines


class MaskedAverage(Average):
    """An `Average` over all workers. Not registered itself."""

    def _add(self, values: Tensor, mask: Optional[Tensor]) -> None:
        """Add values, without those that a mask of the same shape excludes."""
        if mask is not None:
            values = values[mask]
        self._total_value += float(dist_reduce_sum(values.detach().sum()))
        self._count += int(dist_reduce_sum(values.numel()))


@Metric.register("mean_cosine")
class MeanCosine(MaskedAverage):
    """The mean cosine of predicted vectors with the gold ones, such as a teacher's.

    The cosine of a zero vector with any other is 0.
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
        self._add(cosines(predictions.double(), gold_labels.double()), mask)


@Metric.register("mean_squared_error")
class MeanSquaredError(MaskedAverage):
    """The mean of (prediction - target)^2."""

    def __call__(  # type: ignore[override]
        self, predictions: Tensor, gold_labels: Tensor, mask: Optional[Tensor] = None
    ) -> None:
        """Add predictions and targets of the same shape, and a mask of that shape."""
        self._add((predictions.double() - gold_labels.double()) ** 2, mask)
