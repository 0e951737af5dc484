"""Gradients of outputs of which some do not depend on a variable."""

import torch


def gradients_or_zeros(outputs, variables, upstream=None, retain_graph=False):
    """As `torch.autograd.grad` with `materialize_grads`, which torch 1.12 does not have."""
    grads = torch.autograd.grad(
        outputs, variables, upstream, retain_graph=retain_graph, allow_unused=True
    )
    return [torch.zeros_like(x) if grad is None else grad for x, grad in zip(variables, grads)]
