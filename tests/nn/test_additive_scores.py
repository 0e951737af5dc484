"""The scores of additive attention against their definition, one pair of tokens at a time."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn import additive_scores
from allennlp_sentmatch.nn.additive_scores import additive_scores as scores_of
from allennlp_sentmatch.nn.ops.backends import use_backend
from tests.nn.memory import numbers_kept

B = 3
R = 7
M = 5
A = 19


@pytest.fixture(params=["naive", "eager", "eager, two queries at a time"], autouse=True)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name, _, parts = request.param.partition(", ")
    if parts:
        monkeypatch.setattr(additive_scores, "MAX_NUMBERS", 2 * B * M * A)
    with use_backend(name):
        yield name


def arguments() -> list[Tensor]:
    """Return queries, keys and the vector."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(B, R, A), (B, M, A), (A,)]
    return [torch.randn(shape, dtype=torch.float64, generator=generator) for shape in shapes]


def defined(queries: Tensor, keys: Tensor, vector: Tensor) -> Tensor:
    """Return v . tanh(q_i + k_j) and the constant that makes them twice products with sigmoids."""
    scores = torch.empty(B, len(queries[0]), len(keys[0]), dtype=torch.float64)
    for b in range(B):
        for i, q in enumerate(queries[b]):
            for j, k in enumerate(keys[b]):
                scores[b, i, j] = vector @ torch.tanh(q + k)
    return scores + vector.sum()


def values_and_gradients(function: Callable[..., Tensor], weights: Tensor) -> list[Tensor]:
    """Return the scores and the gradients of their weighted sum, which are those without them."""
    leaves = [x.requires_grad_() for x in arguments()]
    scores = function(*leaves)
    with torch.no_grad():
        torch.testing.assert_close(function(*leaves), scores, atol=1e-12, rtol=0)
    return [scores, *torch.autograd.grad((scores * weights).sum(), leaves)]


def test_values_and_gradients_are_those_of_the_definition():
    weights = torch.randn(B, R, M, dtype=torch.float64)
    actual = values_and_gradients(scores_of, weights)
    expected = values_and_gradients(defined, weights)
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_float32_is_near_float64(scale: float):
    queries, keys, vector = arguments()
    queries = scale * queries
    keys = scale * keys
    expected = scores_of(queries, keys, vector)
    actual = scores_of(queries.float(), keys.float(), vector.float())
    torch.testing.assert_close(actual.double(), expected, atol=2e-5, rtol=0)


def test_no_queries_and_no_keys():
    queries, keys, vector = arguments()
    assert scores_of(queries[:, :0], keys, vector).shape == (B, 0, M)
    assert scores_of(queries, keys[:, :0], vector).shape == (B, R, 0)


def test_the_hidden_layer_is_not_kept(backend: str):
    kept = numbers_kept(lambda: scores_of(*(x.requires_grad_() for x in arguments())))
    assert (kept < B * R * M * A) == (backend != "naive")
