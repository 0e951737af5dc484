r"""Straight-through Gumbel-softmax: a one-hot sample with the gradient of its relaxation.

Jang et al. 2017, "Categorical Reparameterization with Gumbel-Softmax"; the equation numbers are
those of Choi 2020, chapter 3.

    g_i      = -log(-log u_i),  u_i ~ U(0, 1)                                     (3.22, 3.23)
    y_i      = exp((logit_i + g_i) / tau) / sum_j exp((logit_j + g_j) / tau)      (3.8)
    y^ST_i   = 1 where i = argmax_j (logit_j + g_j), else 0                       (3.21)
    result_i = detach(y^ST_i - y_i) + y_i                                         (3.24)
"""

from typing import Optional

import torch


def gumbel_noise(logits: torch.Tensor, generator: Optional[torch.Generator] = None) -> torch.Tensor:
    """Independent draws from Gumbel(0, 1), always finite.

    # Parameters

    logits : `torch.Tensor`
        Any shape. Only its shape, device and type count; the draws of half-precision
        `logits` are float32, whose uniform variates are fine enough.
    generator : `torch.Generator`, optional (default = `None`)
        Where the randomness comes from; torch's global generator if `None`.

    # Returns

    `torch.Tensor`
        The shape of `logits`.
    """
    dtype = torch.promote_types(logits.dtype, torch.float32)
    exponential = torch.empty(logits.shape, dtype=dtype, device=logits.device)
    # If u is uniform, -log u is exponential.
    exponential.exponential_(generator=generator)
    return -exponential.clamp_min(torch.finfo(dtype).tiny).log()


def straight_through(
    scores: torch.Tensor, mask: torch.Tensor, temperature: float = 1.0
) -> torch.Tensor:
    """The argmax of `scores` as a one-hot vector, with the gradient of their softmax.

    # Parameters

    scores : `torch.Tensor`
        Shape (..., K).
    mask : `torch.Tensor`
        Shape (..., K), bool: the entries that may be chosen. What `scores` holds elsewhere,
        NaN included, has no effect and gets no gradient.
    temperature : `float`, optional (default = `1.0`)
        Divides the scores in the softmax.

    # Returns

    `torch.Tensor`
        Shape (..., K): exactly one-hot, or all zeros (with zero gradient) where no entry of a
        row may be chosen. Of equal scores, the first is chosen.
    """
    lowest = torch.finfo(scores.dtype).min
    # A row without a single choice would otherwise be uniform: hence the products with the mask.
    relaxed = (scores / temperature).masked_fill(~mask, lowest).softmax(-1) * mask
    best = scores.masked_fill(~mask, lowest).argmax(-1, keepdim=True)
    chosen = torch.zeros_like(scores).scatter(-1, best, 1.0) * mask
    # The bracket is exactly zero, so that rounding cannot make the value other than one-hot.
    return chosen + (relaxed - relaxed.detach())


def straight_through_gumbel_softmax(
    logits: torch.Tensor,
    mask: torch.Tensor,
    temperature: float = 1.0,
    generator: Optional[torch.Generator] = None,
) -> torch.Tensor:
    """One sample per row from the categorical distribution softmax(`logits`).

    # Parameters

    logits : `torch.Tensor`
        Shape (..., K), unnormalized log probabilities.
    mask : `torch.Tensor`
        Shape (..., K), bool: the entries that may be sampled. What `logits` holds elsewhere has
        no effect and gets no gradient.
    temperature : `float`, optional (default = `1.0`)
        Of the relaxation that the gradient is taken of; the samples do not depend on it.
    generator : `torch.Generator`, optional (default = `None`)
        Where the noise comes from; torch's global generator if `None`.

    # Returns

    `torch.Tensor`
        Shape (..., K), the type of `logits`: exactly one-hot in value, with the gradient of the
        relaxed sample. A row whose mask is all false is zero and has a zero gradient.

    # Raises

    `ValueError`
        If `temperature` is not positive or the shapes differ.
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    if logits.shape != mask.shape:
        raise ValueError(
            f"mask must have the shape of logits, {tuple(logits.shape)}, got {tuple(mask.shape)}"
        )
    if logits.size(-1) == 0:
        return logits
    noise = gumbel_noise(logits, generator)
    return straight_through(logits + noise, mask, temperature).to(logits.dtype)
