"""A value that goes linearly from one number to another as training proceeds."""

import torch


class LinearSchedule(torch.nn.Module):
    """The value start + sign * rate * t at training step t, until it reaches `end`.

    With start 1.0, end 0.1 and rate 1e-4 it is the temperature of thesis eq. 6.26,
    max(0.1, 1.0 - r t); with start 0 and end 1, KL cost annealing (Bowman et al. 2016b).

    The step is a buffer: a checkpoint holds it, so that interrupted training goes on where it
    stopped.

    # Parameters

    start, end : `float`
        The first and the last value.
    rate : `float`
        What a step adds or takes off, > 0.

    # Raises

    `ValueError`
        If `rate` is not positive.
    """

    step: torch.Tensor

    def __init__(self, start: float, end: float, rate: float) -> None:
        super().__init__()
        if not rate > 0:
            raise ValueError(f"rate is {rate}; it is the change per step and must be positive")
        self.start = start
        self.end = end
        self.rate = rate
        self.register_buffer("step", torch.tensor(0))

    def forward(self) -> float:
        """The value at the present step."""
        change = self.rate * int(self.step)
        if self.end < self.start:
            return max(self.end, self.start - change)
        return min(self.end, self.start + change)

    def advance(self) -> None:
        """Go on to the next step."""
        self.step += 1
