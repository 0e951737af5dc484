"""The settings of fine-tuning with semantic constraints (thesis section 6.3.3)."""

import torch
from allennlp.common import FromParams

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn import LinearSchedule, UncertaintyWeighting
from allennlp_sentmatch.nn.checks import POSITIVE, check_kind, check_positive

CONSTRAINTS = ("y", "z", "mu")
"""R^y (eq. 6.20), R^z (eq. 6.21) and R^mu (eq. 6.22)."""


class SemanticConstraints(torch.nn.Module, FromParams):
    """The active constraints, their combination, and the generation of sentences for them.

    # Parameters

    names : `list[str]`
        At least one of "y", "z" and "mu". A single constraint is added to the loss unweighted;
        several are combined by uncertainty weighting, eq. 6.23.
    temperature_rate : `float`, optional (default = `1e-4`)
        r of the Gumbel-softmax temperature max(0.1, 1.0 - r t) at step t of fine-tuning, eq. 6.26.
    max_length : `int`, optional (default = `30`)
        The maximum number of words in a generated sentence.
    straight_through : `bool`, optional (default = `False`)
        See `allennlp_sentmatch.nn.generate_relaxed`.
    source_length : `bool`, optional (default = `False`)
        Generate as many words as the source sentence has with its start and end symbols, whether or
        not they include the end symbol, as the author's code does.
    normalize_mean : `bool`, optional (default = `False`)
        See `allennlp_sentmatch.nn.mean_direction_constraint`; `True` in the author's code.
    """

    def __init__(
        self,
        names: list[str],
        temperature_rate: float = 1e-4,
        max_length: int = 30,
        straight_through: bool = False,
        source_length: bool = False,
        normalize_mean: bool = False,
    ) -> None:
        super().__init__()
        with configuration_errors():
            if not names or len(set(names)) < len(names) or not set(names) <= set(CONSTRAINTS):
                raise ValueError(
                    f"names must be some of {', '.join(CONSTRAINTS)}, each once; got {list(names)}"
                )
            check_positive(max_length=max_length)
            check_kind(POSITIVE, temperature_rate=temperature_rate)
            self.temperature = LinearSchedule(start=1.0, end=0.1, rate=temperature_rate)
        self.names = tuple(names)
        self.max_length = max_length
        self.straight_through = straight_through
        self.source_length = source_length
        self.normalize_mean = normalize_mean
        self.weighting = UncertaintyWeighting(len(names)) if len(names) > 1 else None

    def forward(self, losses: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return R, a scalar, from a scalar loss for each of `names`."""
        if self.weighting is None:
            return losses[self.names[0]]
        weighted: torch.Tensor = self.weighting([losses[name] for name in self.names])
        return weighted
