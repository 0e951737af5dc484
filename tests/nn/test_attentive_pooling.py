"""Attentive pooling against dos Santos et al. (2016), one pair and one token at a time."""

import pytest
import torch

from allennlp_sentmatch.nn.pooling import AttentivePooling


def batch():
    torch.manual_seed(0)
    first = torch.randn(3, 4, 5, dtype=torch.float64)
    second = torch.randn(3, 6, 5, dtype=torch.float64)
    first_mask = torch.arange(4) < torch.tensor([[4], [2], [1]])
    second_mask = torch.arange(6) < torch.tensor([[3], [6], [1]])
    return first, first_mask, second, second_mask


def test_equations():
    pooling = AttentivePooling(5).double()
    first, first_mask, second, second_mask = batch()
    result = pooling(first, first_mask, second, second_mask)
    for pair in range(3):
        Q, A = first[pair, first_mask[pair]], second[pair, second_mask[pair]]
        G = torch.stack([torch.stack([(q @ pooling.weight @ a).tanh() for a in A]) for q in Q])
        for vectors, best, pooled, attention in [
            (Q, G.max(dim=1).values, result.first, result.first_attention),
            (A, G.max(dim=0).values, result.second, result.second_attention),
        ]:
            sigma = best.exp() / best.exp().sum()
            expected = sum(weight * vector for weight, vector in zip(sigma, vectors))
            torch.testing.assert_close(pooled[pair], expected, atol=1e-12, rtol=0)
            torch.testing.assert_close(attention[pair, : len(sigma)], sigma, atol=1e-12, rtol=0)
            assert (attention[pair, len(sigma) :] == 0).all()


def test_padding_may_hold_anything_and_gets_no_gradient():
    pooling = AttentivePooling(5).double()
    first, first_mask, second, second_mask = batch()
    expected = pooling(first, first_mask, second, second_mask)
    first[~first_mask], second[~second_mask] = float("nan"), float("inf")
    first.requires_grad_()
    result = pooling(first, first_mask, second, second_mask)
    torch.testing.assert_close(result.first, expected.first, atol=0, rtol=0)
    torch.testing.assert_close(result.second, expected.second, atol=0, rtol=0)
    (result.first.sum() + result.second.sum()).backward()
    assert (first.grad[~first_mask] == 0).all()
    assert torch.isfinite(pooling.weight.grad).all()


def test_empty_sentences():
    pooling = AttentivePooling(5)
    first, second = torch.randn(2, 3, 5), torch.randn(2, 4, 5)
    full = torch.ones(2, 3, dtype=torch.bool)
    result = pooling(first, full, second, torch.zeros(2, 4, dtype=torch.bool))
    torch.testing.assert_close(result.first, first.mean(dim=1))
    assert (result.second == 0).all()


@pytest.mark.parametrize("lengths", [(0, 4), (3, 0), (0, 0)])
def test_batches_without_tokens(lengths):
    first, second = (torch.randn(2, length, 5) for length in lengths)
    result = AttentivePooling(5)(first, None, second, None)
    for inputs, vectors, attention in (
        (first, result.first, result.first_attention),
        (second, result.second, result.second_attention),
    ):
        expected = inputs.mean(dim=1) if inputs.size(1) else torch.zeros(2, 5)
        torch.testing.assert_close(vectors, expected)
        assert attention.shape == inputs.shape[:2]


def test_without_masks_nothing_is_padding():
    pooling = AttentivePooling(5).double()
    first, first_mask, second, second_mask = batch()
    expected = pooling(first, torch.ones_like(first_mask), second, torch.ones_like(second_mask))
    for actual, same in zip(pooling(first, None, second, None), expected):
        assert torch.equal(actual, same)


def test_gradient():
    pooling = AttentivePooling(5).double()
    first, first_mask, second, second_mask = batch()
    inputs = (first.requires_grad_(), second.requires_grad_(), pooling.weight)

    def vectors(first, second, _):
        return pooling(first, first_mask, second, second_mask)[:2]

    assert torch.autograd.gradcheck(vectors, inputs)


def test_impossible_size():
    with pytest.raises(ValueError, match="input_size must be at least 1, got 0"):
        AttentivePooling(0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_autocast_narrows_nothing(dtype: torch.dtype):
    """The inputs alone may be narrow."""
    pooling = AttentivePooling(5)
    first, first_mask, second, second_mask = batch()
    first, second = first.to(dtype), second.to(dtype)
    expected = pooling(first.float(), first_mask, second.float(), second_mask)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = pooling(first, first_mask, second, second_mask)
    for actual, same in zip(result, expected):
        assert actual.dtype == torch.float32
        torch.testing.assert_close(actual, same, atol=1e-6, rtol=0)
