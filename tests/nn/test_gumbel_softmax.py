"""Samples are one-hot, with the relaxation's gradient and the right distribution."""

import pytest
import torch
from scipy import stats

from allennlp_sentmatch.nn.gumbel_softmax import gumbel_noise, straight_through_gumbel_softmax

INFINITY = float("inf")


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


def random(*shape: int, seed: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, generator=generator(seed))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_a_sample_is_exactly_one_hot(dtype: torch.dtype):
    logits = (10 * random(100, 7, seed=1)).to(dtype)
    mask = torch.rand(100, 7, generator=generator(2)) < 0.8
    mask[:, 3] = True
    sample = straight_through_gumbel_softmax(logits, mask, 0.5, generator())
    assert sample.dtype == dtype
    assert set(sample.unique().tolist()) == {0.0, 1.0}
    assert (sample.sum(1) == 1).all()
    assert not sample[~mask].any()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_gradient_is_that_of_the_relaxation(temperature: float):
    logits = random(6, 5, seed=1, dtype=torch.float64).requires_grad_()
    upstream = random(6, 5, seed=2, dtype=torch.float64)
    mask = torch.ones(6, 5, dtype=torch.bool)
    mask[2, 3:] = False
    mask[4, [0, 2]] = False
    sample = straight_through_gumbel_softmax(logits, mask, temperature, generator(3))
    (gradient,) = torch.autograd.grad(sample, logits, upstream)
    noise = gumbel_noise(logits, generator(3))
    for row, is_candidate in enumerate(mask):
        scores = (logits[row] + noise[row]) / temperature
        weights = scores[is_candidate].exp()
        relaxed = weights / weights.sum()  # (3.8)
        assert sample[row, is_candidate].argmax() == relaxed.argmax()
        (expected,) = torch.autograd.grad(relaxed, logits, upstream[row, is_candidate])
        torch.testing.assert_close(gradient[row], expected[row], atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("garbage", [float("nan"), INFINITY, 1e30])
def test_masked_logits_have_no_effect(garbage: float):
    logits = random(3, 4, seed=1)
    mask = torch.tensor([[True, True, False, False], [True, True, True, True], [False] * 4])
    expected = straight_through_gumbel_softmax(logits, mask, 1.0, generator())
    spoiled = logits.masked_fill(~mask, garbage).requires_grad_()
    sample = straight_through_gumbel_softmax(spoiled, mask, 1.0, generator())
    assert torch.equal(sample, expected)
    (gradient,) = torch.autograd.grad(sample, spoiled, random(3, 4, seed=2))
    assert gradient.isfinite().all()
    assert not gradient[~mask].any()
    assert gradient[:2].any(1).all()


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_impossible_temperatures(temperature: float):
    logits = torch.zeros(1, 2)
    with pytest.raises(ValueError, match="temperature must be a number above 0"):
        straight_through_gumbel_softmax(logits, logits == 0, temperature)


def test_a_mask_of_another_shape():
    mask = torch.ones(2, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"\(1, 2\), got \(2\,\)"):
        straight_through_gumbel_softmax(torch.zeros(1, 2), mask, 1.0)


def test_no_candidates_at_all():
    nothing = torch.empty(2, 0)
    assert straight_through_gumbel_softmax(nothing, nothing > 0).shape == (2, 0)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("logits", "mask", "expected"),
    [
        ([5.0, -INFINITY], [False, True], [0, 1]),
        ([5.0, -INFINITY, -INFINITY], [False, True, True], [0, 1, 0]),
        ([-INFINITY, -INFINITY], [True, True], [1, 0]),
        ([-INFINITY, 2.0], [True, True], [0, 1]),
        ([2.0, INFINITY], [True, True], [0, 1]),
        ([INFINITY, 2.0], [False, True], [0, 1]),
    ],
)
def test_infinite_logits(logits, mask, expected, dtype, temperature):
    scores = torch.tensor(logits, dtype=dtype, requires_grad=True)
    sample = straight_through_gumbel_softmax(scores, torch.tensor(mask), temperature)
    assert sample.tolist() == expected
    sample.square().sum().backward()
    assert scores.grad.isfinite().all()
