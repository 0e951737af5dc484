"""The matching functions, element by element as the papers print them."""

import math

import pytest
import torch

from allennlp_sentmatch.nn import matching
from allennlp_sentmatch.nn.matching import ElementwiseBilinear, FactorizedBilinear, LowRankBilinear

A = [0.5, -2.0, 3.0]
B = [1.5, 4.0, 3.0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (matching.concat, [0.5, -2, 3, 1.5, 4, 3]),
        (matching.heuristic, [0.5, -2, 3, 1.5, 4, 3, 1, 6, 0, 0.75, -8, 9]),
        (matching.heuristic_difference, [0.5, -2, 3, 1.5, 4, 3, -1, -6, 0, 0.75, -8, 9]),
        (matching.symmetric, [1, 6, 0, 0.75, -8, 9]),
        (matching.sum_difference, [2, 2, 6, 1, 6, 0]),
    ],
)
def test_worked_out_by_hand(function, expected):
    a = torch.tensor(A)
    b = torch.tensor(B)
    assert function(a, b).tolist() == pytest.approx(expected)
    # Leading dimensions are arbitrary, as for a token-level matcher.
    many = function(a.expand(2, 5, 3), b.expand(2, 5, 3))
    assert many.shape == (2, 5, len(expected))
    assert many[1, 4].tolist() == pytest.approx(expected)


@pytest.fixture
def vectors():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(2, 4, 3, dtype=torch.float64, generator=generator).unbind()


@pytest.mark.parametrize("num_interactions", [1, 2, 4])
def test_elbis_is_equation_5_3(vectors, num_interactions):
    a, b = vectors  # (4, 3) each
    matcher = ElementwiseBilinear(3, num_interactions).double()
    output = matcher(a, b)
    assert output.shape == (4, num_interactions * 3)
    for row in range(4):
        for m in range(num_interactions):
            for i in range(3):
                g = [a[row, i].item(), b[row, i].item(), 1.0]
                W = matcher.weight[m * 3 + i].tolist()
                form = sum(g[j] * W[j][k] * g[k] for j in range(3) for k in range(3))
                assert output[row, m * 3 + i].item() == pytest.approx(math.tanh(form), abs=1e-12)


def test_commutative_elbis(vectors):
    a, b = vectors
    plain = ElementwiseBilinear(3, 2).double()
    commutative = ElementwiseBilinear(3, 2, commutative=True).double()
    commutative.load_state_dict(plain.state_dict())
    assert not torch.allclose(plain(a, b), plain(b, a))
    torch.testing.assert_close(commutative(a, b), commutative(b, a), atol=1e-12, rtol=0)
    # A symmetric form does not change: (a - b)^2 + 3 (a + b) + 1.
    symmetric = torch.tensor([[1.0, -1.0, 3.0], [-1.0, 1.0, 3.0], [0.0, 0.0, 1.0]])
    with torch.no_grad():
        plain.weight.copy_(symmetric.expand_as(plain.weight))
    commutative.load_state_dict(plain.state_dict())
    torch.testing.assert_close(commutative(a, b), plain(a, b), atol=1e-12, rtol=0)


def affine(linear, x):
    rows = zip(linear.weight.tolist(), linear.bias.tolist())
    return [sum(w * x_i for w, x_i in zip(row, x)) + bias for row, bias in rows]


def test_mlb_is_the_product_of_kim_et_al(vectors):
    assert LowRankBilinear(3).rank == 1200
    matcher = LowRankBilinear(3, output_size=2, rank=5).double()
    output = matcher(*vectors)
    assert output.shape == (4, 2)
    for row, a, b in zip(output.tolist(), *(x.tolist() for x in vectors)):
        u = affine(matcher.first, a)
        v = affine(matcher.second, b)
        product = [math.tanh(x) * math.tanh(y) for x, y in zip(u, v)]
        assert row == pytest.approx(affine(matcher.output, product), abs=1e-12)


def test_mfb_is_sum_pooling_then_both_normalizations_of_yu_et_al(vectors):
    matcher = FactorizedBilinear(3, output_size=2, num_factors=5).double()
    output = matcher(*vectors)
    assert output.shape == (4, 2)
    for row, a, b in zip(output.tolist(), *(x.tolist() for x in vectors)):
        u = affine(matcher.first, a)
        v = affine(matcher.second, b)
        sums = [sum(u[i] * v[i] for i in range(5 * o, 5 * o + 5)) for o in range(2)]
        roots = [math.copysign(abs(z) ** 0.5, z) for z in sums]
        assert row == pytest.approx([z / math.hypot(*roots) for z in roots], abs=1e-12)


def test_mfb_of_small_vectors_in_half_precision():
    matcher = FactorizedBilinear(2, output_size=4, num_factors=1)
    torch.nn.init.zeros_(matcher.first.bias)
    torch.nn.init.ones_(matcher.second.bias)
    torch.nn.init.zeros_(matcher.second.weight)
    matcher.first.weight.data[:, 0] = torch.tensor([1.0, 4, 9, 16])  # the sums, times 2^-13
    vector = torch.tensor([2.0**-13, 0])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = matcher(vector, vector)
    assert output.tolist() == pytest.approx([x / 30**0.5 for x in (1, 2, 3, 4)], rel=2**-8)


def test_mfb_of_zeros_has_finite_gradients():
    matcher = FactorizedBilinear(3, output_size=2)
    for linear in (matcher.first, matcher.second):
        torch.nn.init.zeros_(linear.bias)
    a, b = torch.zeros(2, 4, 3, requires_grad=True).unbind()
    output = matcher(a, b)
    output.sum().backward()
    assert output.abs().max() == 0
    assert all(p.grad.isfinite().all() for p in matcher.parameters())
