"""Samples are one-hot, with the relaxation's gradient and the right distribution."""

import pytest
import torch
from scipy import stats

from allennlp_sentmatch.nn.gumbel_softmax import gumbel_noise, straight_through_gumbel_softmax


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_noise_follows_the_gumbel_distribution():
    noise = gumbel_noise(torch.empty(20_000, dtype=torch.float64), generator())
    # With a fixed seed, the result is always the same.
    assert stats.kstest(noise.numpy(), stats.gumbel_r.cdf).pvalue > 1e-3


@pytest.mark.skipif(not hasattr(torch, "func"), reason="this torch has no torch.func")
@pytest.mark.parametrize("randomness", ["different", "same"])
def test_noise_of_a_mapped_batch(randomness: str):
    noise = torch.func.vmap(gumbel_noise, randomness=randomness)(torch.zeros(2, 3))
    assert noise.shape == (2, 3)
    assert torch.equal(noise[0], noise[1]) == (randomness == "same")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_noise_is_finite_and_at_least_float32(dtype: torch.dtype):
    noise = gumbel_noise(torch.empty(1_000_000, dtype=dtype), generator())
    assert noise.isfinite().all()
    assert noise.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_a_sample_is_exactly_one_hot(dtype: torch.dtype):
    logits = (10 * torch.randn(100, 7, generator=generator(1))).to(dtype)
    mask = torch.rand(100, 7, generator=generator(2)) < 0.8
    mask[:, 3] = True
    sample = straight_through_gumbel_softmax(logits, mask, 0.5, generator())
    assert sample.dtype == dtype
    assert set(sample.unique().tolist()) == {0.0, 1.0}
    assert (sample.sum(1) == 1).all()
    assert not sample[~mask].any()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_gradient_is_that_of_the_relaxation(temperature: float):
    logits = torch.randn(6, 5, dtype=torch.float64, generator=generator(1), requires_grad=True)
    mask = torch.ones(6, 5, dtype=torch.bool)
    mask[2, 3:] = False
    mask[4, [0, 2]] = False
    upstream = torch.randn(6, 5, dtype=torch.float64, generator=generator(2))

    sample = straight_through_gumbel_softmax(logits, mask, temperature, generator(3))
    (gradient,) = torch.autograd.grad(sample, logits, upstream)

    noise = gumbel_noise(logits, generator(3))
    for row in range(6):
        weights = ((logits[row] + noise[row]) / temperature).exp()[mask[row]]
        relaxed = weights / weights.sum()  # (3.8)
        assert sample[row, mask[row]].argmax() == relaxed.argmax()
        (expected,) = torch.autograd.grad(relaxed, logits, upstream[row, mask[row]])
        torch.testing.assert_close(gradient[row], expected[row], atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 1e30])
def test_masked_logits_have_no_effect(garbage: float):
    logits = torch.randn(3, 4, generator=generator(1))
    mask = torch.tensor([[True, True, False, False], [True, True, True, True], [False] * 4])
    clean = straight_through_gumbel_softmax(logits, mask, 1.0, generator())
    spoiled = logits.masked_fill(~mask, garbage).requires_grad_()
    sample = straight_through_gumbel_softmax(spoiled, mask, 1.0, generator())
    assert torch.equal(sample, clean)
    (gradient,) = torch.autograd.grad(sample, spoiled, torch.randn(3, 4, generator=generator(2)))
    assert gradient.isfinite().all()
    assert not gradient[~mask].any()
    assert gradient[:2].any(1).all()


def test_no_candidates_at_all():
    nothing = torch.empty(2, 0)
    assert straight_through_gumbel_softmax(nothing, nothing > 0).shape == (2, 0)


@pytest.mark.parametrize(
    ("shape", "temperature", "message"),
    [
        *(((1, 2), x, "temperature must be a number above 0") for x in (0.0, -1.0, float("nan"))),
        ((2,), 1.0, r"\(1, 2\), got \(2\,\)"),
    ],
)
def test_impossible_arguments(shape: tuple[int, ...], temperature: float, message: str):
    with pytest.raises(ValueError, match=message):
        straight_through_gumbel_softmax(torch.zeros(1, 2), torch.ones(shape) > 0, temperature)


INFINITY = float("inf")


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("logits", "mask", "choice"),
    [
        ([5.0, -INFINITY], [False, True], 1),
        ([5.0, -INFINITY, -INFINITY], [False, True, True], 1),
        ([-INFINITY, -INFINITY], [True, True], 0),
        ([-INFINITY, 2.0], [True, True], 1),
        ([2.0, INFINITY], [True, True], 1),
        ([INFINITY, 2.0], [False, True], 1),
    ],
)
def test_infinite_logits(logits, mask, choice, dtype, temperature):
    scores = torch.tensor(logits, dtype=dtype, requires_grad=True)
    sample = straight_through_gumbel_softmax(scores, torch.tensor(mask), temperature)
    assert sample.tolist() == [float(k == choice) for k in range(len(logits))]
    sample.square().sum().backward()
    assert scores.grad.isfinite().all()
