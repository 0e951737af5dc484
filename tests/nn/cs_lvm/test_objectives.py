import itertools
import math

import pytest
import torch

from allennlp_sentmatch.nn.cs_lvm import (
    generative_loss,
    sampled_unsupervised_loss,
    supervised_loss,
    unsupervised_loss,
)


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_generative_loss_by_hand():
    # -log p(x|y,z) - log p(y) + KL with p(x|y,z) = 1/8, three labels and KL = 2.
    loss = generative_loss(tensor(math.log(1 / 8)), tensor(2.0), num_labels=3)
    assert loss.item() == pytest.approx(math.log(8) + math.log(3) + 2, rel=1e-12)


def test_supervised_loss_by_hand():
    # L_gen = 5, L_disc = log 4, lambda = 0.8
    loss = supervised_loss(tensor(5.0), tensor(math.log(4)), discriminative_weight=0.8)
    assert loss.item() == pytest.approx(5 + 0.8 * math.log(4), rel=1e-12)


def test_unsupervised_loss_by_hand():
    # q(y) = (1/4, 3/4) and L_gen = (4, 8): -H = 1/4 log 1/4 + 3/4 log 3/4; E = 1 + 6.
    loss = unsupervised_loss(tensor(0.25, 0.75).log().unsqueeze(0), tensor(4.0, 8.0).unsqueeze(0))
    negative_entropy = 0.25 * math.log(0.25) + 0.75 * math.log(0.75)
    assert loss.shape == (1,)
    assert loss.item() == pytest.approx(negative_entropy + 7, rel=1e-12)


def test_unsupervised_bound_by_brute_force():
    # Eq. 6.15 with a z of three values: every expectation is a finite sum.
    torch.manual_seed(0)
    num_labels, num_latents = 4, 3
    p_x = torch.rand(num_latents, num_labels, dtype=torch.float64)  # p(x | z, y)
    p_z = torch.full((num_latents,), 1 / num_latents, dtype=torch.float64)
    q_z = torch.rand(num_latents, dtype=torch.float64).softmax(-1)
    q_y = torch.rand(num_labels, dtype=torch.float64).softmax(-1)
    bound = sum(
        q_z[z] * q_y[y] * torch.log(p_x[z, y] * p_z[z] / num_labels / (q_z[z] * q_y[y]))
        for z, y in itertools.product(range(num_latents), range(num_labels))
    )
    divergence = (q_z * (q_z / p_z).log()).sum()
    losses = generative_loss(p_x.log(), divergence, num_labels)
    loss = (q_z * unsupervised_loss(q_y.log().expand(num_latents, -1), losses)).sum()
    assert -loss.item() == pytest.approx(bound.item(), rel=1e-12)
    marginal = (p_x * p_z.unsqueeze(-1) / num_labels).sum().log()
    assert bound < marginal


def test_unsupervised_bound_is_tight_at_the_true_posterior():
    # With q(y) = p(y | x, z), L_u is -log of the marginal over labels, plus the divergence.
    likelihoods = tensor(0.1, 0.02, 0.4)
    posterior = likelihoods / likelihoods.sum()
    losses = generative_loss(likelihoods.log(), tensor(1.5), num_labels=3)
    loss = unsupervised_loss(posterior.log().unsqueeze(0), losses.unsqueeze(0))
    assert loss.item() == pytest.approx(1.5 - math.log(likelihoods.mean()), rel=1e-12)


def test_sampling_is_an_unbiased_estimate_of_enumeration():
    # The expectation over every joint draw of a batch's labels, of the loss and of its gradient.
    torch.manual_seed(0)
    logits = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    losses = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    log_probs = logits.log_softmax(-1)
    exact = unsupervised_loss(log_probs, losses).sum()
    exact_gradients = torch.autograd.grad(exact, (logits, losses))

    expected, gradients = 0.0, [torch.zeros(3, 2).double(), torch.zeros(3, 2).double()]
    for draw in itertools.product(range(2), repeat=3):
        labels = torch.tensor(draw)
        log_probs = logits.log_softmax(-1)
        chosen = losses.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        loss = sampled_unsupervised_loss(log_probs, labels, chosen)
        probability = log_probs.gather(-1, labels.unsqueeze(-1)).sum().exp().item()
        expected += probability * loss.sum().item()
        for total, part in zip(gradients, torch.autograd.grad(loss.sum(), (logits, losses))):
            total += probability * part
    assert expected == pytest.approx(exact.item(), rel=1e-12)
    for actual, wanted in zip(gradients, exact_gradients):
        torch.testing.assert_close(actual, wanted, rtol=1e-9, atol=1e-12)


def test_sampling_without_the_score_takes_the_label_as_given():
    """The same value as with it, and to the classifier the gradient of the entropy alone."""
    torch.manual_seed(0)
    logits = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    losses, labels = tensor(1.0, 4.0, 9.0), torch.tensor([0, 1, 1])
    log_probs = logits.log_softmax(-1)
    entropy = -(log_probs.exp() * log_probs).sum()
    loss = sampled_unsupervised_loss(log_probs, labels, losses, with_score=False)
    torch.testing.assert_close(loss, sampled_unsupervised_loss(log_probs, labels, losses))
    actual, expected = (
        torch.autograd.grad(value, logits, retain_graph=True)[0] for value in (loss.sum(), -entropy)
    )
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=0)


def test_sampling_with_a_single_example():
    log_probs = tensor(0.5, 0.5).log().unsqueeze(0)
    loss = sampled_unsupervised_loss(log_probs, torch.tensor([1]), tensor(3.0))
    assert loss.item() == pytest.approx(3 - math.log(2), rel=1e-12)
