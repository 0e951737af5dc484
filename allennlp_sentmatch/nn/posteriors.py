"""The approximate posterior of an encoded sentence m, and its prior.

Choi 2020, thesis sections 6.3.2 and 6.4.3:

    q(z | x) = vMF(g_code(m), kappa),  g_code(m) = (W m + b) / |W m + b|     p(z) = U(S^{m-1})
    q(z | x) = N(W m + b, diag(exp(W' m + b')))    (ablation (ii))           p(z) = N(0, I)

For the first, with a fixed kappa, the KL divergence from the prior is a constant. For the second
(Kingma and Welling 2014), the KL term's weight grows from 0 to 1, which keeps the posterior from
collapsing onto the prior (KL cost annealing, Bowman et al. 2016b).
"""

from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Distribution, Independent, Normal, kl_divergence

from allennlp_sentmatch.nn.checks import POSITIVE, check_kind, check_positive, integer
from allennlp_sentmatch.nn.distributions import HypersphericalUniform, VonMisesFisher
from allennlp_sentmatch.nn.precision import at_least_float32
from allennlp_sentmatch.nn.schedules import LinearSchedule


class InferenceNetwork(torch.nn.Module):
    """Maps an encoded sentence to q(z | x), a distribution of latent vectors; has the prior p(z).

    `input_size` is an encoded sentence's size; `latent_size`, m, is z's size, by default the same.
    """

    def __init__(self, input_size: int, latent_size: Optional[int]) -> None:
        super().__init__()
        self.input_size = input_size
        self.latent_size = input_size if latent_size is None else latent_size
        check_positive(input_size=input_size, latent_size=self.latent_size)

    def forward(self, sentence: Tensor) -> Distribution:
        """Return the distributions of `sentence` (B, input_size): batch shape (B,), event shape
        (m,).
        """
        raise NotImplementedError

    def kl_divergence(self, posterior: Distribution) -> Tensor:
        """Return KL(q(z | x) || p(z)), (B,), as it enters the loss."""
        raise NotImplementedError

    def advance(self) -> None:
        """Advance annealed weights by one training step; by default, there are none."""


class GaussianInferenceNetwork(InferenceNetwork):
    """Maps encoded sentences to Gaussian distributions with diagonal covariance.

    # Parameters

    input_size : `int`
        The size of an encoded sentence.
    latent_size : `int`, optional (default = `input_size`)
        The size of z.
    kl_annealing_rate : `float`, optional (default = `1e-4`)
        The increase of the KL term's weight per step, up to 1. The thesis does not report its rate.
    """

    def __init__(
        self,
        input_size: int,
        latent_size: Optional[int] = None,
        kl_annealing_rate: float = 1e-4,
    ) -> None:
        super().__init__(input_size, latent_size)
        check_kind(POSITIVE, kl_annealing_rate=kl_annealing_rate)
        self.mean_projection = torch.nn.Linear(input_size, self.latent_size)
        self.log_variance_projection = torch.nn.Linear(input_size, self.latent_size)
        self.kl_weight = LinearSchedule(start=0.0, end=1.0, rate=kl_annealing_rate)

    def forward(self, sentence: Tensor) -> Distribution:
        """Return q(z | x) of `sentence` (B, input_size): batch shape (B,), event shape (m,)."""
        # Half precision is too coarse for a divergence.
        mean = at_least_float32(self.mean_projection(sentence))
        log_variance = at_least_float32(self.log_variance_projection(sentence))
        return _gaussian(mean, torch.exp(log_variance / 2))

    def kl_divergence(self, posterior: Distribution) -> Tensor:
        """Return KL(q(z | x) || p(z)) times its current weight, (B,)."""
        mean = posterior.mean
        prior = _gaussian(torch.zeros_like(mean), torch.ones_like(mean))
        divergence: Tensor = self.kl_weight() * kl_divergence(posterior, prior)
        return divergence

    def advance(self) -> None:
        """Advance the annealing by one training step."""
        self.kl_weight.advance()


def _gaussian(mean: Tensor, scale: Tensor) -> Distribution:
    """Return a Gaussian with diagonal covariance, from (B, m) each."""
    # Without validation, which would wait for a GPU.
    normal = Normal(mean, scale, validate_args=False)
    return Independent(normal, 1, validate_args=False)


class VonMisesFisherInferenceNetwork(InferenceNetwork):
    """Maps encoded sentences to von Mises-Fisher distributions.

    # Parameters

    input_size : `int`
        The size of an encoded sentence.
    latent_size : `int`, optional (default = `input_size`)
        m >= 2, the size of z.
    concentration : `float`, optional (default = `100.0`)
        kappa > 0, the same for every sentence and not trained. The best values were 100 to 150
        (thesis tables 6.6 and 6.7).
    """

    concentration: Tensor

    def __init__(
        self,
        input_size: int,
        latent_size: Optional[int] = None,
        concentration: float = 100.0,
    ) -> None:
        super().__init__(input_size, latent_size)
        # A sphere needs a space of at least two dimensions.
        check_kind(integer(least=2), latent_size=self.latent_size)
        check_kind(POSITIVE, concentration=concentration)
        self.projection = torch.nn.Linear(input_size, self.latent_size)
        self.register_buffer("concentration", torch.tensor([float(concentration)]))

    def forward(self, sentence: Tensor) -> VonMisesFisher:
        """Return q(z | x) of `sentence` (B, input_size): batch shape (B,), event shape (m,)."""
        # Half precision is too coarse for a unit vector.
        projected = at_least_float32(self.projection(sentence))
        # The arguments are valid by construction; a check would synchronize with the GPU.
        concentration = self.concentration.to(projected.dtype)
        return VonMisesFisher(F.normalize(projected, dim=-1), concentration, validate_args=False)

    def kl_divergence(self, posterior: Distribution) -> Tensor:
        """Return KL(q(z | x) || p(z)), (B,), eq. 6.3."""
        prior = HypersphericalUniform(self.latent_size, validate_args=False)
        divergence: Tensor = kl_divergence(posterior, prior)
        return divergence
