"""Which semantic constraints are on, and how they combine (thesis section 6.3.3)."""

from collections.abc import Sequence

import torch

from allennlp_sentmatch.nn.cs_lvm.constraints import UncertaintyWeighting
from allennlp_sentmatch.nn.cs_lvm.linear_schedule import LinearSchedule

CONSTRAINTS = ("y", "z", "mu")
"""R^y (eq. 6.20), R^z (eq. 6.21) and R^mu (eq. 6.22)."""


class SemanticConstraints(torch.nn.Module):
    """The settings of fine-tuning: constraints, their weights, and how sentences are generated.

    # Parameters

    names : `Sequence[str]`
        At least one of "y", "z" and "mu". One alone is added to the loss as it is; several are
        combined by uncertainty weighting, eq. 6.23.
    temperature_rate : `float`, optional (default = `1e-4`)
        r of the Gumbel-softmax temperature max(0.1, 1.0 - r t) at step t of fine-tuning, eq. 6.26.
    max_length : `int`, optional (default = `30`)
        The largest number of words of a generated sentence.
    straight_through : `bool`, optional (default = `False`)
        See `generate_relaxed`.

    # Raises

    `ValueError`
        If a name is unknown or repeated or there is none, or a number is not positive.
    """

    def __init__(
        self,
        names: Sequence[str],
        temperature_rate: float = 1e-4,
        max_length: int = 30,
        straight_through: bool = False,
    ) -> None:
        super().__init__()
        if not names or len(set(names)) < len(names) or not set(names) <= set(CONSTRAINTS):
            raise ValueError(f"constraints are {list(names)}; expected some of {CONSTRAINTS}")
        if max_length < 1:
            raise ValueError(f"max_length is {max_length}; it must be at least 1")
        self.names = tuple(names)
        self.max_length = max_length
        self.straight_through = straight_through
        self.temperature = LinearSchedule(start=1.0, end=0.1, rate=temperature_rate)
        self.weighting = UncertaintyWeighting(len(names)) if len(names) > 1 else None

    def forward(self, losses: dict[str, torch.Tensor]) -> torch.Tensor:
        """R, a scalar, of a scalar for each of `names`."""
        if self.weighting is None:
            return losses[self.names[0]]
        weighted: torch.Tensor = self.weighting([losses[name] for name in self.names])
        return weighted
