"""The Gaussian variant of the approximate posterior (thesis section 6.4.3, ablation (ii)).

    q(z | x) = N(W m + b, diag(exp(W' m + b'))),   p(z) = N(0, I)

with m the encoded sentence (Kingma and Welling 2014). The KL term's weight grows from 0 to 1, which
keeps the posterior from collapsing onto the prior (KL cost annealing, Bowman et al. 2016b).
"""

from typing import Optional

import torch
from torch.distributions import Distribution, Independent, Normal, kl_divergence

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.cs_lvm.inference_network import InferenceNetwork
from allennlp_sentmatch.nn.cs_lvm.linear_schedule import LinearSchedule


class GaussianInferenceNetwork(InferenceNetwork):
    """Maps encoded sentences to Gaussian distributions with diagonal covariance.

    # Parameters

    input_size : `int`
        The size of an encoded sentence.
    latent_size : `int`, optional (default = `input_size`)
        The size of z.
    kl_annealing_rate : `float`, optional (default = `1e-4`)
        The increase of the KL term's weight per training step, from 0 up to 1. The thesis tuned
        the rate and does not report it.

    # Raises

    `ValueError`
        If a size is less than 1 or `kl_annealing_rate` is not positive.
    """

    def __init__(
        self, input_size: int, latent_size: Optional[int] = None, kl_annealing_rate: float = 1e-4
    ) -> None:
        super().__init__()
        latent_size = input_size if latent_size is None else latent_size
        check_positive(input_size=input_size, latent_size=latent_size)
        self.input_size = input_size
        self.latent_size = latent_size
        self.mean_projection = torch.nn.Linear(input_size, latent_size)
        self.log_variance_projection = torch.nn.Linear(input_size, latent_size)
        self.kl_weight = LinearSchedule(start=0.0, end=1.0, rate=kl_annealing_rate)

    def forward(self, sentence: torch.Tensor) -> Distribution:
        """Return q(z | x) for `sentence` (B, input_size): batch shape (B,), event shape (m,)."""
        mean = self.mean_projection(sentence)
        scale = torch.exp(self.log_variance_projection(sentence) / 2)
        return Independent(Normal(mean, scale, validate_args=False), 1, validate_args=False)

    def kl_divergence(self, posterior: Distribution) -> torch.Tensor:
        """Return KL(q(z|x) || p(z)) times its current weight, (B,)."""
        mean = posterior.mean
        # Without validation, which would wait for a GPU.
        normal = Normal(torch.zeros_like(mean), torch.ones_like(mean), validate_args=False)
        prior = Independent(normal, 1, validate_args=False)
        divergence: torch.Tensor = self.kl_weight() * kl_divergence(posterior, prior)
        return divergence

    def advance(self) -> None:
        """Advance the annealing by one training step."""
        self.kl_weight.advance()
