"""The semantic constraints of fine-tuning (thesis section 6.3.3), all to be minimized.

    R^y  = -log q(y~ | x_s, x~_t),      y~ ~ p(y)                                           (6.20)
    R^z  = -log q(z_t = z~_t | x_t),    z~_t ~ q(z | x~_t)                                  (6.21)
    R^mu = -mean_i d(mu_i, mean_j mu_j),  d(a, b) = 1 - <a, b>                              (6.22)
    R    = sum_k R^k / sigma_k^2 + log sigma_k                                              (6.23)

x~_t is the sentence generated from z_s and y~; mu_i is the mean direction of the posterior of the
batch's i-th generated sentence.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch.distributions import Distribution

from allennlp_sentmatch.nn.checks import check_positive


def label_constraint(label_log_probs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Compute R^y, eq. 6.20, averaged over the batch.

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
    """Compute R^z, eq. 6.21, averaged over the batch.

    # Parameters

    target_posterior : `torch.distributions.Distribution`
        q(z | x_t) of the true target sentences, batch shape (B,).
    generated_latent : `torch.Tensor`
        z~_t, (B, m).
    """
    log_prob: torch.Tensor = target_posterior.log_prob(generated_latent)
    return -log_prob.mean()


def mean_direction_constraint(
    mean_directions: torch.Tensor, normalize: bool = False
) -> torch.Tensor:
    """Compute R^mu, eq. 6.22.

    # Parameters

    mean_directions : `torch.Tensor`
        The unit vectors mu_i of the batch's generated sentences, (B, m).
    normalize : `bool`, optional (default = `False`)
        Give their mean the length 1, so that d is the cosine distance.
    """
    center = mean_directions.mean(dim=0)
    if normalize:
        center = F.normalize(center, dim=0)
    return -(1 - mean_directions @ center).mean()


class UncertaintyWeighting(torch.nn.Module):
    """Homoscedastic uncertainty weighting (Kendall et al. 2018), eq. 6.23.

    The trained parameters are log sigma_k^2 in `log_variances` (K,), initially zero (thesis
    section 6.4.5).

    R^mu is never positive, and neither is R^z if the posterior is concentrated: for these the
    minimum over sigma is at sigma = 0. A step increases the weights by about the learning rate, so
    this affects long training only. The thesis gives no remedy, and this class follows the thesis.

    # Parameters

    num_losses : `int`
        K.

    # Raises

    `ValueError`
        If `num_losses` is less than 1.
    """

    def __init__(self, num_losses: int) -> None:
        super().__init__()
        check_positive(num_losses=num_losses)
        self.log_variances = torch.nn.Parameter(torch.zeros(num_losses))

    def forward(self, losses: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the weighted sum, a scalar, of K scalars."""
        weighted = torch.stack(list(losses)) * torch.exp(-self.log_variances)
        return (weighted + self.log_variances / 2).sum()
