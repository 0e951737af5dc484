"""Values that change from one training step to the next."""

import torch
from torch import Tensor

from allennlp_sentmatch.nn.checks import POSITIVE, check_kind


class LinearSchedule(torch.nn.Module):
    """A schedule with the value start + sign * rate * t at training step t, up to `end`.

    With start 1.0, end 0.1 and rate 1e-4 it is the temperature of thesis eq. 6.26,
    max(0.1, 1.0 - r t); with start 0 and end 1, KL cost annealing (Bowman et al. 2016b).

    The step is a buffer, so that training resumes with the right value. The `rate` is above 0.
    """

    step: Tensor

    def __init__(
        self,
        start: float,
        end: float,
        rate: float,
    ) -> None:
        super().__init__()
        check_kind(POSITIVE, rate=rate)
        self.start = start
        self.end = end
        self.rate = rate
        self.register_buffer("step", torch.tensor(0))

    def forward(self) -> float:
        """Return the value at the current step."""
        change = self.rate * int(self.step)
        if self.end < self.start:
            return max(self.end, self.start - change)
        return min(self.end, self.start + change)

    def advance(self) -> None:
        """Advance to the next step."""
        self.step += 1
