"""The norm of a module's parameters."""

import torch


def parameter_norm(module: torch.nn.Module) -> torch.Tensor:
    r"""The L2 norm of all parameters that are trained, taken together: sqrt(sum_i theta_i^2).

    # Parameters

    module : `torch.nn.Module`

    # Returns

    `Tensor`
        A scalar. Its gradient is zero, and not infinite, if all parameters are zero.
    """
    norms = [p.norm() for p in module.parameters() if p.requires_grad]  # scalars
    return torch.stack(norms).norm() if norms else torch.zeros(())
