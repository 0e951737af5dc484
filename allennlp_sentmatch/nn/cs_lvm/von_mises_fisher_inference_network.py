"""The approximate posterior of thesis section 6.3.2.

    q(z | x) = vMF(g_code(m), kappa),  g_code(m) = (W m + b) / |W m + b|

with m the encoded sentence and kappa fixed. The prior is uniform on the sphere, so the KL
divergence from the prior is a constant.
"""

from typing import Optional

import torch
import torch.nn.functional as F
from torch.distributions import Distribution, kl_divergence

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.cs_lvm.inference_network import InferenceNetwork
from allennlp_sentmatch.nn.distributions import HypersphericalUniform, VonMisesFisher
from allennlp_sentmatch.nn.precision import at_least_float32


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

    # Raises

    `ValueError`
        If `input_size` is less than 1, `latent_size` is less than 2 or `concentration` is not
        positive.
    """

    concentration: torch.Tensor

    def __init__(
        self, input_size: int, latent_size: Optional[int] = None, concentration: float = 100.0
    ) -> None:
        super().__init__()
        latent_size = input_size if latent_size is None else latent_size
        check_positive(input_size=input_size)
        if latent_size < 2:
            raise ValueError(f"latent_size must be at least 2, for a sphere; got {latent_size}")
        if not concentration > 0:
            raise ValueError(f"concentration is {concentration}; it must be positive")
        self.input_size = input_size
        self.latent_size = latent_size
        self.projection = torch.nn.Linear(input_size, latent_size)
        self.register_buffer("concentration", torch.tensor([float(concentration)]))

    def forward(self, sentence: torch.Tensor) -> VonMisesFisher:
        """Return q(z | x) for `sentence` (B, input_size): batch shape (B,), event shape (m,)."""
        # Half precision is too coarse for a unit vector.
        projected = at_least_float32(self.projection(sentence))
        # The arguments are valid by construction; a check would synchronize with the GPU.
        return VonMisesFisher(
            F.normalize(projected, dim=-1),
            self.concentration.to(projected.dtype),
            validate_args=False,
        )

    def kl_divergence(self, posterior: Distribution) -> torch.Tensor:
        """Return KL(q(z|x) || p(z)), (B,), eq. 6.3."""
        divergence: torch.Tensor = kl_divergence(
            posterior, HypersphericalUniform(self.latent_size, validate_args=False)
        )
        return divergence
