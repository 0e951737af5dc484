"""The matching functions, element by element as the papers print them."""

import math

import pytest
import torch

from allennlp_sentmatch.nn import matching
from allennlp_sentmatch.nn.matching import ElementwiseBilinear, FactorizedBilinear, LowRankBilinear

A = [0.5, -2.0, 3.0]
B = [1.5, 4.0, 3.0]


SUMS = [2, 2, 6]


DIFFERENCES = [-1, -6, 0]


DISTANCES = [1, 6, 0]


PRODUCTS = [0.75, -8, 9]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (matching.concat, A + B),
        (matching.heuristic, A + B + DISTANCES + PRODUCTS),
        (matching.heuristic_difference, A + B + DIFFERENCES + PRODUCTS),
        (matching.symmetric, DISTANCES + PRODUCTS),
        (matching.sum_difference, SUMS + DISTANCES),
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
    """Return the first and the second sides of four pairs, (4, 3) each."""
    generator = torch.Generator().manual_seed(1)
    return torch.randn(2, 4, 3, dtype=torch.float64, generator=generator).unbind()


@pytest.mark.parametrize("num_interactions", [1, 2, 4])
def test_elbis_is_equation_5_3(vectors, num_interactions):
    a, b = vectors
    matcher = ElementwiseBilinear(3, num_interactions).double()
    output = matcher(a, b)
    assert output.shape == (4, num_interactions * 3)
    for row in range(4):
        for m in range(num_interactions):
            for i in range(3):
                g = torch.tensor([a[row, i], b[row, i], 1.0], dtype=torch.float64)
                W = matcher.weight[m * 3 + i].detach()
                expected = math.tanh(g @ W @ g)
                assert output[row, m * 3 + i].item() == pytest.approx(expected, abs=1e-12)


@pytest.fixture
def plain():
    return ElementwiseBilinear(3, 2).double()


@pytest.fixture
def commutative():
    return ElementwiseBilinear(3, 2, commutative=True).double()


def test_commutative_elbis(vectors, plain, commutative):
    a, b = vectors
    commutative.load_state_dict(plain.state_dict())
    assert not torch.allclose(plain(a, b), plain(b, a))
    torch.testing.assert_close(commutative(a, b), commutative(b, a), atol=1e-12, rtol=0)


def test_a_symmetric_form_is_already_commutative(vectors, plain, commutative):
    """The form is (a - b)^2 + 3 (a + b) + 1."""
    a, b = vectors
    form = torch.tensor([[1.0, -1.0, 3.0], [-1.0, 1.0, 3.0], [0.0, 0.0, 1.0]])
    with torch.no_grad():
        plain.weight.copy_(form.expand_as(plain.weight))
    commutative.load_state_dict(plain.state_dict())
    torch.testing.assert_close(commutative(a, b), plain(a, b), atol=1e-12, rtol=0)


def dot(x, y):
    return sum(x_i * y_i for x_i, y_i in zip(x, y))


def affine(linear, x):
    weight = linear.weight.tolist()
    bias = linear.bias.tolist()
    return [dot(row, x) + b for row, b in zip(weight, bias)]


def rows_of(output, vectors):
    """Yield each output with its pair, as lists."""
    first, second = vectors
    yield from zip(output.tolist(), first.tolist(), second.tolist())


def test_mlb_is_the_product_of_kim_et_al(vectors):
    assert LowRankBilinear(3).rank == 1200
    matcher = LowRankBilinear(3, output_size=2, rank=5).double()
    output = matcher(*vectors)
    assert output.shape == (4, 2)
    for row, a, b in rows_of(output, vectors):
        u = affine(matcher.first, a)
        v = affine(matcher.second, b)
        product = [math.tanh(x) * math.tanh(y) for x, y in zip(u, v)]
        assert row == pytest.approx(affine(matcher.output, product), abs=1e-12)


def test_mfb_is_sum_pooling_then_both_normalizations_of_yu_et_al(vectors):
    matcher = FactorizedBilinear(3, output_size=2, num_factors=5).double()
    output = matcher(*vectors)
    assert output.shape == (4, 2)
    for row, a, b in rows_of(output, vectors):
        u = affine(matcher.first, a)
        v = affine(matcher.second, b)
        sums = [dot(u[:5], v[:5]), dot(u[5:], v[5:])]
        roots = [math.copysign(abs(z) ** 0.5, z) for z in sums]
        length = math.hypot(*roots)
        assert row == pytest.approx([z / length for z in roots], abs=1e-12)


def test_mfb_of_small_vectors_in_half_precision():
    matcher = FactorizedBilinear(2, output_size=4, num_factors=1)
    torch.nn.init.zeros_(matcher.first.bias)
    torch.nn.init.ones_(matcher.second.bias)
    torch.nn.init.zeros_(matcher.second.weight)
    sums = torch.tensor([1.0, 4, 9, 16])  # times 2^-13
    matcher.first.weight.data[:, 0] = sums
    vector = torch.tensor([2.0**-13, 0])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = matcher(vector, vector)
    expected = sums.sqrt() / 30**0.5
    torch.testing.assert_close(output, expected, rtol=2**-8, atol=0, check_dtype=False)


def test_mfb_of_zeros_has_finite_gradients():
    matcher = FactorizedBilinear(3, output_size=2)
    torch.nn.init.zeros_(matcher.first.bias)
    torch.nn.init.zeros_(matcher.second.bias)
    a, b = torch.zeros(2, 4, 3, requires_grad=True).unbind()
    output = matcher(a, b)
    output.sum().backward()
    assert output.abs().max() == 0
    for parameter in matcher.parameters():
        assert parameter.grad.isfinite().all()
