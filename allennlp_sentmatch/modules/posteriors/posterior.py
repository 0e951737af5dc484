"""What every approximate posterior has in common."""

from allennlp.common import Registrable
from torch import Tensor, nn
from torch.distributions import Distribution


class Posterior(nn.Module, Registrable):
    """A `Posterior` turns an encoded sentence into a distribution over latent vectors.

    It knows the prior that belongs to it, too.
    """

    latent_size: int
    """The size of a latent vector, m."""

    def forward(self, sentence: Tensor) -> Distribution:
        """The distributions q(z | x) of encoded sentences (B, E): batch shape (B,), event (m,)."""
        raise NotImplementedError

    def kl_divergence(self, posterior: Distribution) -> Tensor:
        """KL(q(z | x) || p(z)), (B,), as it enters the loss."""
        raise NotImplementedError

    def advance(self) -> None:
        """Called after each training step, for whatever is annealed."""
        raise NotImplementedError
