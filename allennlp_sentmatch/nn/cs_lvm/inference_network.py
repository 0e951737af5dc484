"""The interface of the approximate posteriors."""

import torch
from torch.distributions import Distribution


class InferenceNetwork(torch.nn.Module):
    """Maps an encoded sentence to q(z | x), a distribution over latent vectors, and has the prior
    p(z).

    # Attributes

    input_size : `int`
        The size of an encoded sentence.
    latent_size : `int`
        m, the size of z.
    """

    input_size: int
    latent_size: int

    def forward(self, sentence: torch.Tensor) -> Distribution:
        """The distributions of `sentence` (B, input_size): batch shape (B,), event shape (m,)."""
        raise NotImplementedError

    def kl_divergence(self, posterior: Distribution) -> torch.Tensor:
        """KL(q(z | x) || p(z)), (B,), as it enters the loss."""
        raise NotImplementedError

    def advance(self) -> None:
        """Move annealed weights on by one training step; by default there are none."""
