"""The matching functions, element by element as the papers print them."""

import math

import pytest
import torch

from allennlp_sentmatch.nn import matching
from allennlp_sentmatch.nn.matching import ElementwiseBilinear

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
    a, b = torch.tensor(A), torch.tensor(B)
    assert function(a, b).tolist() == pytest.approx(expected)
    # Any leading dimensions, as a token-level matcher has them.
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
    # A form that is already symmetric stays as it is: (a - b)^2 + 3 (a + b) + 1.
    symmetric = torch.tensor([[1.0, -1.0, 3.0], [-1.0, 1.0, 3.0], [0.0, 0.0, 1.0]])
    with torch.no_grad():
        plain.weight.copy_(symmetric.expand_as(plain.weight))
    commutative.load_state_dict(plain.state_dict())
    torch.testing.assert_close(commutative(a, b), plain(a, b), atol=1e-12, rtol=0)
