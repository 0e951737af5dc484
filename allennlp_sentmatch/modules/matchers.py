"""Matching functions as AllenNLP components."""

from typing import Any, Callable, Optional

import torch
from allennlp.common import Lazy, Registrable
from allennlp.modules.highway import Highway
from torch import Tensor, nn

from allennlp_sentmatch.modules.configuration_errors import configuration_errors, constructs
from allennlp_sentmatch.nn import matching
from allennlp_sentmatch.nn.checks import check_positive


class Matcher(nn.Module, Registrable):
    """Turns two vectors of the same size into the features of their relation.

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in from their encoder.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__()
        with configuration_errors():
            check_positive(input_size=input_size)
        self._input_size = input_size

    def get_input_dim(self) -> int:
        """Return the size of each of the two vectors."""
        return self._input_size

    def get_output_dim(self) -> int:
        """Return the number of features."""
        raise NotImplementedError

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., get_input_dim()), to (..., get_output_dim())."""
        raise NotImplementedError


class FunctionMatcher(Matcher):
    """A `Matcher` that applies a function of `allennlp_sentmatch.nn.matching`. Not registered
    itself; its subclasses take only `input_size`.
    """

    function: Callable[[Tensor, Tensor], Tensor]  # maps two tensors (..., d) to their features

    def get_output_dim(self) -> int:
        vector = torch.empty(self.get_input_dim())
        return self.function(vector, vector).size(-1)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self.function(a, b)


@Matcher.register("concat")
class ConcatMatcher(FunctionMatcher):
    """[a; b]: the vectors themselves (thesis table 5.1)."""

    function = staticmethod(matching.concat)


@Matcher.register("heuristic")
class HeuristicMatcher(FunctionMatcher):
    """[a; b; |a - b|; a * b]: CAS-LSTM eq. 15, thesis eqs 3.27 and 6.24."""

    function = staticmethod(matching.heuristic)


@Matcher.register("heuristic_difference")
class HeuristicDifferenceMatcher(FunctionMatcher):
    """[a; b; a - b; a * b]: thesis eq. 5.4, RCRN's entailment model."""

    function = staticmethod(matching.heuristic_difference)


@Matcher.register("symmetric")
class SymmetricMatcher(FunctionMatcher):
    """[|a - b|; a * b]: CAS-LSTM eq. 16, thesis eq. 5.5."""

    function = staticmethod(matching.symmetric)


@Matcher.register("sum_difference")
class SumDifferenceMatcher(FunctionMatcher):
    """[a + b; |a - b|]: thesis eq. 6.25."""

    function = staticmethod(matching.sum_difference)


class BilinearMatcher(Matcher):
    """A `Matcher` that learns bilinear forms. Not registered itself; its subclasses take the
    settings of their modules in `allennlp_sentmatch.nn.matching`.
    """

    def __init__(self, module: Any) -> None:
        super().__init__(module.input_size)
        self._bilinear = module

    def get_output_dim(self) -> int:
        return int(self._bilinear.output_size)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        features: Tensor = self._bilinear(a, b)
        return features


@Matcher.register("elbis")
class ElBiSMatcher(BilinearMatcher):
    """Element-wise bilinear sentence matching, learned from data (thesis eqs 5.1-5.3)."""

    __init__ = constructs(matching.ElementwiseBilinear)(BilinearMatcher.__init__)


@Matcher.register("mlb")
class MLBMatcher(BilinearMatcher):
    """Multimodal low-rank bilinear pooling (Kim et al. 2017)."""

    __init__ = constructs(matching.LowRankBilinear)(BilinearMatcher.__init__)


@Matcher.register("mfb")
class MFBMatcher(BilinearMatcher):
    """Multi-modal factorized bilinear pooling (Yu et al. 2017)."""

    __init__ = constructs(matching.FactorizedBilinear)(BilinearMatcher.__init__)


@Matcher.register("highway")
class HighwayMatcher(Matcher):
    """Another matcher's features through AllenNLP's `Highway` layers: RCRN's entailment model (Tay,
    Luu and Hui 2018, section 4.2), with the default matcher.

    # Parameters

    input_size : `int`
        The size of each of the two vectors. Models fill it in.
    matcher : `Lazy[Matcher]`, optional (default = `Lazy(HeuristicDifferenceMatcher)`)
        A configuration leaves out its `input_size`.
    hidden_size : `int`, optional (default = `None`)
        The size of the highway layers, to which a linear layer maps the features. With `None`, it
        is the matcher's output size, and there is no such layer.
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
        size = self._matcher.get_output_dim()
        self._output_size = size if hidden_size is None else hidden_size
        with configuration_errors():
            check_positive(hidden_size=self._output_size, num_layers=num_layers)
        self._projection = nn.Identity() if hidden_size is None else nn.Linear(size, hidden_size)
        self._highway = Highway(self._output_size, num_layers)

    def get_output_dim(self) -> int:
        return self._output_size

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        features: Tensor = self._highway(self._projection(self._matcher(a, b)))
        return features
