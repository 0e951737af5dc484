"""The penalty on a model's parameters."""

from typing import Optional

import torch
from allennlp.nn import RegularizerApplicator
from allennlp.nn.regularizers import Regularizer

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn.checks import check_kind, number


class ModelRegularizer(RegularizerApplicator):
    """AllenNLP's penalties on single parameters and the norm of all parameters, as a loss.

    Choi's thesis (section 4.4.1) adds the L2 norm of the parameters to the loss, w * ||theta||, and
    so do `regularizer: { norm_weight: 0.002 }` and the author's code
    (https://github.com/jihunchoi/ca-stacked-lstm). AllenNLP's "l2" adds the square, w *
    ||theta||^2, whose gradient grows with the norm: with the thesis's w of 0.002, it pulls the
    weights to zero.

    # Parameters

    regexes : `list[tuple[str, Regularizer]]`, optional (default = `None`)
        See `RegularizerApplicator`.
    norm_weight : `float`, optional (default = `0.0`)
        w, the weight of the norm of all parameters that are trained.
    """

    def __init__(
        self,
        regexes: Optional[list[tuple[str, Regularizer]]] = None,
        norm_weight: float = 0.0,
    ) -> None:
        with configuration_errors():
            check_kind(number(least=0), norm_weight=norm_weight)
        super().__init__(regexes)
        self._norm_weight = norm_weight

    def __call__(self, module: torch.nn.Module) -> torch.Tensor:
        """Return a module's penalty: a scalar or, as in AllenNLP, 0.0 if nothing is penalized."""
        penalty = super().__call__(module)
        if self._norm_weight > 0:
            # If all parameters are zero, the gradient is zero, not infinite.
            norms = [p.norm() for p in module.parameters() if p.requires_grad]  # scalars
            if norms:
                penalty = penalty + self._norm_weight * torch.stack(norms).norm()
        return penalty
