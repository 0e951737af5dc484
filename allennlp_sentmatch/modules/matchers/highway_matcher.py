"""The matcher `highway`."""

from typing import Optional

import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError, check_dimensions_match
from allennlp.modules.highway import Highway
from torch import Tensor

from allennlp_sentmatch.modules.matchers.heuristic_difference_matcher import (
    HeuristicDifferenceMatcher,
)
from allennlp_sentmatch.modules.matchers.matcher import Matcher


@Matcher.register("highway")
class HighwayMatcher(Matcher):
    """Another matcher's features through AllenNLP's `Highway` layers: RCRN's entailment model (Tay,
    Luu and Hui 2018, section 4.2), with the default matcher.

    Registered as a `Matcher` with name "highway".

    # Parameters

    input_size : `int`
        The size of each of the two vectors. Models fill it in.
    matcher : `Lazy[Matcher]`, optional (default = `Lazy(HeuristicDifferenceMatcher)`)
        A configuration leaves out its `input_size`.
    hidden_size : `int`, optional (default = `None`)
        The size of the highway layers, to which a linear layer brings the features. `None`: the
        matcher's own output size, without that layer.
    num_layers : `int`, optional (default = `2`)
        Number of highway layers.
    """

    def __init__(
        self,
        input_size: int,
        matcher: Lazy[Matcher] = Lazy(HeuristicDifferenceMatcher),  # noqa: B008
        hidden_size: Optional[int] = None,
        num_layers: int = 2,
    ) -> None:
        super().__init__(input_size)
        self._matcher = matcher.construct(input_size=input_size)
        check_dimensions_match(
            input_size, self._matcher.get_input_dim(), "input_size", "input_size of the matcher"
        )
        num_features = self._matcher.get_output_dim()
        self._output_size = num_features if hidden_size is None else hidden_size
        for name, value in (("hidden_size", self._output_size), ("num_layers", num_layers)):
            if value < 1:
                raise ConfigurationError(f"{name} must be at least 1, got {value}")
        self._projection = (
            torch.nn.Identity()
            if hidden_size is None
            else torch.nn.Linear(num_features, hidden_size)
        )
        self._highway = Highway(self._output_size, num_layers)

    def get_output_dim(self) -> int:
        """`hidden_size`, or the output size of the matcher inside."""
        return self._output_size

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), to (..., get_output_dim())."""
        features: Tensor = self._highway(self._projection(self._matcher(a, b)))
        return features
