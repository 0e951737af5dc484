"""The semantic constraints of fine-tuning (thesis section 6.3.3), all to be minimized.

    R^y  = -log q(y~ | x_s, x~_t),      y~ ~ p(y)                                           (6.20)
    R^z  = -log q(z_t = z~_t | x_t),    z~_t ~ q(z | x~_t)                                  (6.21)
    R^mu = -mean_i d(mu_i, mean_j mu_j),  d(a, b) = 1 - <a, b>                              (6.22)
    R    = sum_k R^k / sigma_k^2 + log sigma_k                                              (6.23)

x~_t is the sentence generated from z_s and y~, and mu_i the mean direction encoded from the
batch's i-th one.
"""

from collections.abc import Sequence

import torch
from torch.distributions import Distribution


def label_constraint(label_log_probs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """R^y, eq. 6.20, the mean over the batch.

    # Parameters

    label_log_probs : `torch.Tensor`
        log q(y | x_s, x~_t), (B, C).
    labels : `torch.Tensor`
        y~, (B,).
    """
    return -label_log_probs.gather(-1, labels.unsqueeze(-1)).mean()


def latent_constraint(
    target_posterior: Distribution, generated_latent: torch.Tensor
) -> torch.Tensor:
    """R^z, eq. 6.21, the mean over the batch.

    # Parameters

    target_posterior : `torch.distributions.Distribution`
        q(z | x_t) of the true target sentences, batch shape (B,).
    generated_latent : `torch.Tensor`
        z~_t, (B, m).
    """
    log_prob: torch.Tensor = target_posterior.log_prob(generated_latent)
    return -log_prob.mean()


def mean_direction_constraint(mean_directions: torch.Tensor) -> torch.Tensor:
    """R^mu, eq. 6.22.

    # Parameters

    mean_directions : `torch.Tensor`
        The unit vectors mu_i of the batch's generated sentences, (B, m).
    """
    center = mean_directions.mean(dim=0)
    return -(1 - mean_directions @ center).mean()


class UncertaintyWeighting(torch.nn.Module):
    """Homoscedastic uncertainty weighting (Kendall et al. 2018), eq. 6.23.

    The trained parameters are log sigma_k^2, at first zero (thesis section 6.4.5), in
    `log_variances` (K,).

    R^mu is never positive, nor is R^z where the posterior is concentrated: for these the minimum
    over sigma is at sigma = 0. The weights grow by about the learning rate a step, so that this
    bears on long training only; the thesis prints the equation without a remedy, and so it is here.

    # Parameters

    num_losses : `int`
        K.
    """

    def __init__(self, num_losses: int) -> None:
        super().__init__()
        self.log_variances = torch.nn.Parameter(torch.zeros(num_losses))

    def forward(self, losses: Sequence[torch.Tensor]) -> torch.Tensor:
        """The weighted sum, a scalar, of K scalars."""
        weighted = torch.stack(list(losses)) * torch.exp(-self.log_variances)
        return (weighted + self.log_variances / 2).sum()
