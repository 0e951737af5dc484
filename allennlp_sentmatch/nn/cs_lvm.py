"""The losses of the cross-sentence latent variable model (Choi 2020, thesis section 6.3.3).

**The training objectives**, all to be minimized, one value per example

    L_gen(x_s, x_t, y) = -log p(x_t | y, z_s) - log p(y) + KL(q(z_s | x_s) || p(z_s))       (6.12)
    L_disc             = -log q(y | x_s, x_t)                                               (6.13)
    L_l                = L_gen + lambda L_disc                                              (6.14)
    L_u                = -H(q(y | x_s, x_t)) + E_{q(y | x_s, x_t)}[L_gen(x_s, x_t, y)]      (6.18)

p(y) is uniform. A training step minimizes L_l of labeled plus L_u of unlabeled pairs (6.19). The
posterior q(z | x) is in `posteriors`, the generator p(x | y, z) in `language_model`.

**The semantic constraints of fine-tuning**, all to be minimized

    R^y  = -log q(y~ | x_s, x~_t),      y~ ~ p(y)                                           (6.20)
    R^z  = -log q(z_t = z~_t | x_t),    z~_t ~ q(z | x~_t)                                  (6.21)
    R^mu = -mean_i d(mu_i, mean_j mu_j),  d(a, b) = 1 - <a, b>                              (6.22)
    R    = sum_k R^k / sigma_k^2 + log sigma_k                                              (6.23)

x~_t is the sentence generated from z_s and y~; mu_i is the mean direction of the posterior of the
batch's i-th generated sentence.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Distribution
from torch.nn.modules.batchnorm import _BatchNorm

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.configured_module import ConfiguredModule


def generative_loss(
    log_likelihood: Tensor,
    kl_divergence: Tensor,
    num_labels: int,
) -> Tensor:
    """Compute L_gen, eq. 6.12, from log p(x_t | y, z_s) of any shape, KL(q(z_s | x_s) || p(z_s)),
    which broadcasts against it, and the number of labels, 1 / p(y).
    """
    return -log_likelihood + math.log(num_labels) + kl_divergence


def _negative_entropy(label_log_probs: Tensor) -> Tensor:
    return (label_log_probs.exp() * label_log_probs).sum(dim=-1)


def unsupervised_loss(label_log_probs: Tensor, generative_losses: Tensor) -> Tensor:
    """Compute L_u (B,), eq. 6.18, with the expectation by enumeration, from log q(y | x_s, x_t) and
    L_gen(x_s, x_t, y) for every y, both (B, C).
    """
    expectation = (label_log_probs.exp() * generative_losses).sum(dim=-1)
    return _negative_entropy(label_log_probs) + expectation


def sampled_unsupervised_loss(
    label_log_probs: Tensor,
    labels: Tensor,
    generative_losses: Tensor,
    with_score: bool = True,
) -> Tensor:
    """Estimate L_u (B,), eq. 6.18, from one sample of y per example.

    Sampling is not differentiable, so the classifier's gradient is the score-function estimate,
    which is unbiased, unless `with_score` is `False`. Its baseline, the mean of the batch's other
    losses, does not depend on the example's own sample. The thesis does not name its estimator.

    The arguments are log q(y | x_s, x_t) (B, C), the samples y (B,) and L_gen(x_s, x_t, y) (B,).
    """
    loss = _negative_entropy(label_log_probs) + generative_losses
    if not with_score:
        return loss
    batch_size = labels.size(0)
    cost = generative_losses.detach()
    baseline = (cost.sum() - cost) / max(batch_size - 1, 1)
    log_prob = label_log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    # Its value is zero; only its gradient matters.
    score = (cost - baseline) * (log_prob - log_prob.detach())
    return loss + score


def label_constraint(label_log_probs: Tensor, labels: Tensor) -> Tensor:
    """Average R^y, eq. 6.20, over the batch, from log q(y | x_s, x~_t) (B, C) and y~ (B,)."""
    return -label_log_probs.gather(-1, labels.unsqueeze(-1)).mean()


def latent_constraint(target_posterior: Distribution, generated_latent: Tensor) -> Tensor:
    """Average R^z, eq. 6.21, over the batch, from q(z | x_t) of the true target sentences, batch
    shape (B,), and z~_t (B, m).
    """
    log_prob: Tensor = target_posterior.log_prob(generated_latent)
    return -log_prob.mean()


def mean_direction_constraint(mean_directions: Tensor, normalize: bool = False) -> Tensor:
    """Compute R^mu, eq. 6.22, from the unit vectors mu_i (B, m) of the batch's generated sentences.

    With `normalize` their mean gets the length 1, so that d is the cosine distance.
    """
    center = mean_directions.mean(dim=0)
    if normalize:
        center = F.normalize(center, dim=0)
    return -(1 - mean_directions @ center).mean()


class UncertaintyWeighting(ConfiguredModule):
    """Homoscedastic uncertainty weighting (Kendall et al. 2018), eq. 6.23.

    The trained parameters are log sigma_k^2 in `log_variances` (K,), initially 0 (section 6.4.5).

    R^mu is never positive, and neither is R^z if the posterior is concentrated: their minimum over
    sigma is at sigma = 0. A step increases the weights by about the learning rate, so this affects
    only long training. The thesis gives no remedy.

    `num_losses` is K.
    """

    def __init__(self, num_losses: int) -> None:
        super().__init__()
        check_positive(num_losses=num_losses)
        self.num_losses = num_losses
        self.log_variances = torch.nn.Parameter(torch.zeros(num_losses))

    def forward(self, losses: Sequence[Tensor]) -> Tensor:
        """Return the weighted sum, a scalar, of K scalars."""
        if len(losses) != self.num_losses:
            raise ValueError(f"losses must be {self.num_losses}, got {len(losses)}")
        weighted = torch.stack(list(losses)) * torch.exp(-self.log_variances)
        return (weighted + self.log_variances / 2).sum()


@contextmanager
def freeze_parameters(*modules: torch.nn.Module) -> Iterator[None]:
    """Freeze the parameters of `modules` for computations inside the context.

    The gradient still passes through the modules to their inputs. The training mode does not
    change, because cuDNN's recurrent networks can only be differentiated in training mode; batch
    normalization uses the batch's statistics, but does not add them to its running statistics.
    """
    parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
    normalizations = [
        part
        for module in modules
        for part in module.modules()
        if isinstance(part, _BatchNorm) and part.track_running_stats
    ]
    for parameter in parameters:
        parameter.requires_grad_(False)
    for normalization in normalizations:
        normalization.track_running_stats = False
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)
        for normalization in normalizations:
            normalization.track_running_stats = True
