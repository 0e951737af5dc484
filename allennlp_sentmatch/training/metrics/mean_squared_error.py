"""Mean squared error."""

from typing import Optional

from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from torch import Tensor


@Metric.register("mean_squared_error")
class MeanSquaredError(Metric):
    """The mean of (prediction - target)^2.

    Registered as a `Metric` with name "mean_squared_error".
    """

    def __init__(self) -> None:
        self.reset()

    def __call__(
        self, predictions: Tensor, gold_labels: Tensor, mask: Optional[Tensor] = None
    ) -> None:
        """Add predictions and targets of the same shape, and a mask of that shape."""
        predictions, gold_labels = self.detach_tensors(predictions, gold_labels)
        errors = (predictions.double() - gold_labels.double()) ** 2
        if mask is not None:
            errors = errors[mask]
        self._total += dist_reduce_sum(errors.sum().item())
        self._count += dist_reduce_sum(errors.numel())

    def get_metric(self, reset: bool = False) -> float:
        """The mean over everything that was added; 0 where nothing was."""
        mean = self._total / self._count if self._count else 0.0
        if reset:
            self.reset()
        return mean

    def reset(self) -> None:
        """Forget everything that was added."""
        self._total = 0.0
        self._count = 0
