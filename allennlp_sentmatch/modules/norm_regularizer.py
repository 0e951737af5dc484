"""The norm of a model's parameters as a term of its loss."""

from typing import Union

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.nn import RegularizerApplicator


class NormRegularizer(RegularizerApplicator):
    r"""The L2 norm of all parameters that are trained, multiplied by a weight.

    Choi's thesis (section 4.4.1) adds w * ||theta||, with theta all parameters together:

        w * sqrt(sum_i theta_i^2)

    AllenNLP's regularizer "l2" is the sum of squares, w * ||theta||^2, whose gradient grows with
    the norm: with the thesis's w of 0.002 it pulls the weights to zero. The author's code takes the
    root, too (https://github.com/jihunchoi/ca-stacked-lstm).

    In a configuration: `regularizer: { norm_weight: 0.002 }`.

    # Parameters

    norm_weight : `float`
        w, above zero.
    """

    def __init__(self, norm_weight: float) -> None:
        if not norm_weight > 0:  # also if it is not a number
            raise ConfigurationError(f"norm_weight must be above 0, got {norm_weight}")
        super().__init__()
        self.norm_weight = norm_weight

    def __call__(self, module: torch.nn.Module) -> torch.Tensor:
        """The penalty of a module, a scalar."""
        norms = [p.norm() for p in module.parameters() if p.requires_grad]
        # The norm's gradient at zero is zero, the root's is infinite.
        return self.norm_weight * torch.stack(norms).norm() if norms else torch.zeros(())


#: What a model's constructor takes: AllenNLP's penalties on single parameters, or the norm of all.
ModelRegularizer = Union[RegularizerApplicator, NormRegularizer]
