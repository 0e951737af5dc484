"""The losses of the cross-sentence latent variable model against the thesis's equations."""

import itertools
import math

import pytest
import torch

from allennlp_sentmatch.nn import UncertaintyWeighting, VonMisesFisher
from allennlp_sentmatch.nn.cs_lvm import (
    freeze_parameters,
    label_constraint,
    latent_constraint,
    mean_direction_constraint,
    sampled_unsupervised_loss,
    unsupervised_loss,
)


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def chosen_of(losses, labels):
    """Return each example's value of its label."""
    return losses.gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def test_sampling_is_an_unbiased_estimate_of_enumeration():
    """The expectation over every joint draw of a batch's labels, of the loss and its gradient."""
    torch.manual_seed(0)
    logits = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    losses = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    exact = unsupervised_loss(logits.log_softmax(-1), losses).sum()
    expected_gradients = torch.autograd.grad(exact, (logits, losses))
    mean_loss = 0.0
    mean_gradients = [torch.zeros(3, 2).double(), torch.zeros(3, 2).double()]
    for draw in itertools.product(range(2), repeat=3):
        labels = torch.tensor(draw)
        log_probs = logits.log_softmax(-1)
        loss = sampled_unsupervised_loss(log_probs, labels, chosen_of(losses, labels)).sum()
        probability = chosen_of(log_probs, labels).sum().exp().item()
        mean_loss += probability * loss.item()
        for mean, gradient in zip(mean_gradients, torch.autograd.grad(loss, (logits, losses))):
            mean += probability * gradient
    assert mean_loss == pytest.approx(exact.item(), rel=1e-12)
    for mean, expected in zip(mean_gradients, expected_gradients):
        torch.testing.assert_close(mean, expected, rtol=1e-9, atol=1e-12)


LOSSES = list(tensor(2.0, 3.0, -5.0))


@pytest.fixture
def weighting():
    return UncertaintyWeighting(3).double()


def test_the_first_weighting_is_the_sum(weighting):
    """Initially sigma = 1."""
    assert weighting(LOSSES).item() == pytest.approx(0, abs=1e-12)


def test_sampling_with_a_single_example():
    log_probs = tensor(0.5, 0.5).log().unsqueeze(0)
    loss = sampled_unsupervised_loss(log_probs, torch.tensor([1]), tensor(3.0))
    assert loss.item() == pytest.approx(3 - math.log(2), rel=1e-12)


def test_label_constraint_by_hand():
    log_probs = torch.stack([tensor(0.5, 0.5), tensor(0.2, 0.8)]).log()
    constraint = label_constraint(log_probs, torch.tensor([0, 1]))
    assert constraint.item() == pytest.approx(-(math.log(0.5) + math.log(0.8)) / 2, rel=1e-12)


def test_latent_constraint_by_hand():
    # On the sphere C = k / (4 pi sinh k); the two latents are at cosines 1 and 0 from the mean.
    loc = torch.stack([tensor(1.0, 0.0, 0.0)] * 2)
    latents = torch.stack([tensor(1.0, 0.0, 0.0), tensor(0.0, 0.0, 1.0)])
    constraint = latent_constraint(VonMisesFisher(loc, tensor(2.0)), latents)
    log_normalization = math.log(2 / (4 * math.pi * math.sinh(2)))
    assert constraint.item() == pytest.approx(-log_normalization - (2 + 0) / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("directions", "normalize", "expected"),
    [
        # The mean of (1, 0) and (0, 1) is (1/2, 1/2), at a distance of 1 - 1/2 from either.
        ([(1.0, 0.0), (0.0, 1.0)], False, -0.5),
        # Normalized, it has a cosine of 1 / sqrt(2) with either.
        ([(1.0, 0.0), (0.0, 1.0)], True, math.sqrt(1 / 2) - 1),
        # Equal directions are at distance 0, opposite ones at distance 1 from their mean, zero.
        ([(0.6, 0.8)] * 3, False, 0),
        ([(0.6, 0.8), (-0.6, -0.8)], False, -1),
    ],
)
def test_mean_direction_constraint_by_hand(directions, normalize, expected):
    constraint = mean_direction_constraint(tensor(*directions), normalize)
    assert constraint.item() == pytest.approx(expected, abs=1e-12)


def test_uncertainty_weighting_by_hand(weighting):
    """2/4 + 3/1 - 5/0.25 + log 2 + log 1 + log 0.5."""
    with torch.no_grad():
        weighting.log_variances.copy_(tensor(math.log(4), 0.0, math.log(0.25)))
    weighted = weighting(LOSSES)
    assert weighted.item() == pytest.approx(0.5 + 3 - 20, rel=1e-12)
    weighted.backward()
    # d/ds (exp(-s) R + s/2) = -exp(-s) R + 1/2
    torch.testing.assert_close(weighting.log_variances.grad, tensor(0.0, -2.5, 20.5))


def test_a_weighting_of_another_number_of_losses(weighting):
    with pytest.raises(ValueError, match="losses must be 3, got 1"):
        weighting(LOSSES[:1])


def test_restores_what_was_trainable():
    module = torch.nn.Linear(2, 2)
    module.bias.requires_grad_(False)
    try:
        with freeze_parameters(module):
            assert not module.weight.requires_grad
            raise RuntimeError
    except RuntimeError:
        pass
    assert module.weight.requires_grad
    assert not module.bias.requires_grad


def test_statistics_of_batch_normalization_stay():
    normalization = torch.nn.BatchNorm1d(2)
    module = torch.nn.Sequential(torch.nn.Linear(3, 2), normalization)
    before = {name: buffer.clone() for name, buffer in normalization.named_buffers()}
    inputs = torch.randn(5, 3)
    with freeze_parameters(module):
        outputs = module(inputs)
    for name, buffer in normalization.named_buffers():
        assert torch.equal(buffer, before[name])
    torch.testing.assert_close(outputs, module(inputs))  # normalized by the batch in both cases
    assert normalization.num_batches_tracked == 1
