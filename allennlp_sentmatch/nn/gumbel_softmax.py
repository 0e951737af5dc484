r"""Straight-through Gumbel-softmax: a one-hot sample with the gradient of its relaxation.

Jang et al. 2017, "Categorical Reparameterization with Gumbel-Softmax"; eqs of Choi 2020, chapter 3.

    g_i      = -log(-log u_i),  u_i ~ U(0, 1)                                     (3.22, 3.23)
    y_i      = exp((logit_i + g_i) / tau) / sum_j exp((logit_j + g_j) / tau)      (3.8)
    y^ST_i   = 1 where i = argmax_j (logit_j + g_j), else 0                       (3.21)
    result_i = detach(y^ST_i - y_i) + y_i                                         (3.24)
"""

from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.checks import POSITIVE, check_kind
from allennlp_sentmatch.nn.ops.common.straight_through import straight_through


def gumbel_noise(logits: Tensor, generator: Optional[torch.Generator] = None) -> Tensor:
    """Draw independent, always finite samples from Gumbel(0, 1), as many as `logits` has elements.

    They are at least float32, because half-precision uniform variates are too coarse.
    """
    dtype = torch.promote_types(logits.dtype, torch.float32)
    exponential = torch.empty_like(logits, dtype=dtype, memory_format=torch.contiguous_format)
    # If u is uniform, -log u is exponential.
    exponential.exponential_(generator=generator)
    return -exponential.clamp_min(torch.finfo(dtype).tiny).log()


def straight_through_gumbel_softmax(
    logits: Tensor,
    mask: Tensor,
    temperature: float = 1.0,
    generator: Optional[torch.Generator] = None,
) -> Tensor:
    """Draw one sample per row from the categorical distribution softmax(`logits`).

    The logits (..., K) are unnormalized log probabilities. The bool mask (..., K) is true at
    entries that may be sampled; other logits have no effect and get no gradient. The positive
    temperature of the relaxation affects the gradient but not the samples. The generator is the
    source of randomness, by default torch's global one.

    The result (..., K) has the type of `logits`. It is exactly one-hot in value, with the gradient
    of the relaxed sample. A row whose mask is all false is zero and has a zero gradient.
    """
    check_kind(POSITIVE, temperature=temperature)
    if logits.shape != mask.shape:
        raise ValueError(
            f"mask must have the shape of logits, {tuple(logits.shape)}, got {tuple(mask.shape)}"
        )
    if logits.size(-1) == 0:
        return logits
    noise = gumbel_noise(logits, generator)
    return straight_through(logits + noise, mask, temperature).to(logits.dtype)
