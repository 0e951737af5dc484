"""The training objectives of thesis section 6.3.3, all to be minimized, one value per example.

    L_gen(x_s, x_t, y) = -log p(x_t | y, z_s) - log p(y) + KL(q(z_s | x_s) || p(z_s))       (6.12)
    L_disc             = -log q(y | x_s, x_t)                                               (6.13)
    L_l                = L_gen + lambda L_disc                                              (6.14)
    L_u                = -H(q(y | x_s, x_t)) + E_{q(y | x_s, x_t)}[L_gen(x_s, x_t, y)]      (6.18)

p(y) is uniform. A training step minimizes L_l of labeled plus L_u of unlabeled pairs (6.19).
"""

import math

import torch


def generative_loss(
    log_likelihood: torch.Tensor, kl_divergence: torch.Tensor, num_labels: int
) -> torch.Tensor:
    """Compute L_gen, eq. 6.12.

    # Parameters

    log_likelihood : `torch.Tensor`
        log p(x_t | y, z_s), any shape.
    kl_divergence : `torch.Tensor`
        KL(q(z_s | x_s) || p(z_s)), of a shape that broadcasts against `log_likelihood`.
    num_labels : `int`
        The number of labels, 1 / p(y).
    """
    return -log_likelihood + math.log(num_labels) + kl_divergence


def supervised_loss(
    generative: torch.Tensor, discriminative: torch.Tensor, discriminative_weight: float
) -> torch.Tensor:
    """Compute L_l, eq. 6.14, from L_gen, L_disc and lambda."""
    return generative + discriminative_weight * discriminative


def _negative_entropy(label_log_probs: torch.Tensor) -> torch.Tensor:
    return (label_log_probs.exp() * label_log_probs).sum(dim=-1)


def unsupervised_loss(
    label_log_probs: torch.Tensor, generative_losses: torch.Tensor
) -> torch.Tensor:
    """Compute L_u, eq. 6.18, with the expectation by enumeration.

    # Parameters

    label_log_probs : `torch.Tensor`
        log q(y | x_s, x_t), (B, C).
    generative_losses : `torch.Tensor`
        L_gen(x_s, x_t, y) for every y, (B, C).

    # Returns

    `torch.Tensor`
        (B,).
    """
    expectation = (label_log_probs.exp() * generative_losses).sum(dim=-1)
    return _negative_entropy(label_log_probs) + expectation


def sampled_unsupervised_loss(
    label_log_probs: torch.Tensor,
    labels: torch.Tensor,
    generative_losses: torch.Tensor,
    with_score: bool = True,
) -> torch.Tensor:
    """Estimate L_u, eq. 6.18, from one sample of y per example; by default, the gradient is
    unbiased.

    Sampling is not differentiable, so the classifier's gradient is the score-function estimate. Its
    baseline is the mean of the batch's other losses, which adds no bias because it does not depend
    on the example's own sample. The thesis does not name its estimator.

    # Parameters

    label_log_probs : `torch.Tensor`
        log q(y | x_s, x_t), (B, C).
    labels : `torch.Tensor`
        y ~ q(y | x_s, x_t), (B,).
    generative_losses : `torch.Tensor`
        L_gen(x_s, x_t, y) for these labels, (B,).
    with_score : `bool`, optional (default = `True`)
        If `False`, leave the score-function estimate out.

    # Returns

    `torch.Tensor`
        (B,).
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
