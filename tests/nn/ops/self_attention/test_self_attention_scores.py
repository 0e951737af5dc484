"""The scores of additive attention against their definition, one pair of tokens at a time."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.self_attention import eager
from allennlp_sentmatch.nn.ops.self_attention.scores import additive_scores
from tests.nn.ops.conftest import run_by

A = 19  # of no vector's width
LENGTHS = [5, 0, 1, 7, 3]


@pytest.fixture(params=["eager", "eager, some rows at a time"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name, _, parts = request.param.partition(", ")
    if parts:  # two rows of the longest sentence, and all of a short one
        monkeypatch.setattr(eager, "MAX_NUMBERS", 2 * 7 * A)
    with run_by(name):
        yield name


every_backend = pytest.mark.usefixtures("backend")


def arguments() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    queries, keys = torch.randn(2, 5, 8, A, dtype=torch.float64, generator=generator)
    vector = torch.randn(A, dtype=torch.float64, generator=generator)
    return queries, keys, vector, torch.arange(8) < torch.tensor(LENGTHS).unsqueeze(1)


@pytest.mark.parametrize("name", ["naive", "eager"])
def test_definition(name: str):
    queries, keys, vector, mask = arguments()
    with use_backend(name):
        scores = additive_scores(queries, keys, vector, mask)
    assert scores.shape == (5, 8, 8)
    for b, length in enumerate(LENGTHS):
        for i in range(8):
            for j in range(8):
                expected = torch.zeros((), dtype=torch.float64)
                if i < length and j < length:
                    expected = vector @ torch.tanh(queries[b, i] + keys[b, j])
                torch.testing.assert_close(scores[b, i, j], expected, atol=1e-12, rtol=1e-12)


@every_backend
def test_values_and_gradients_are_those_of_the_naive_form():
    *tensors, mask = arguments()
    weights = torch.randn(5, 8, 8, dtype=torch.float64)

    def values_and_gradients() -> list[Tensor]:
        leaves = [x.clone().requires_grad_() for x in tensors]
        scores = additive_scores(*leaves, mask)
        return [scores, *torch.autograd.grad((scores * weights).sum(), leaves)]

    actual = values_and_gradients()
    with use_backend("naive"):
        expected = values_and_gradients()
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=1e-9)


@every_backend
def test_gradcheck():
    queries, keys, vector, mask = (x[2:] if x.dim() > 1 else x for x in arguments())
    leaves = [x.clone().requires_grad_() for x in (queries, keys, vector)]
    assert torch.autograd.gradcheck(lambda *leaves: additive_scores(*leaves, mask), leaves)


@every_backend
@pytest.mark.parametrize("frozen", [0, 1, 2])
def test_a_frozen_argument(frozen: int):
    *tensors, mask = arguments()
    leaves = [x.clone().requires_grad_(i != frozen) for i, x in enumerate(tensors)]
    additive_scores(*leaves, mask).sum().backward()
    assert [leaf.grad is None for leaf in leaves] == [i == frozen for i in range(3)]


@every_backend
def test_padding_may_hold_anything():
    queries, keys, vector, mask = arguments()
    expected = additive_scores(queries, keys, vector, mask)
    for tensor in (queries, keys):
        tensor[~mask] = float("nan")
    queries.requires_grad_()
    scores = additive_scores(queries, keys, vector, mask)
    torch.testing.assert_close(scores, expected, atol=1e-12, rtol=0)
    scores.sum().backward()
    assert queries.grad.isfinite().all()


@every_backend
def test_float32_is_near_float64():
    *tensors, mask = arguments()
    for scale in (1e-3, 1.0, 30.0):
        queries, keys, vector = (scale * tensors[0], scale * tensors[1], tensors[2])
        expected = additive_scores(queries, keys, vector, mask)
        actual = additive_scores(queries.float(), keys.float(), vector.float(), mask)
        torch.testing.assert_close(actual.double(), expected, atol=2e-5, rtol=0)


@every_backend
def test_no_tokens():
    empty = torch.zeros(2, 0, A), torch.zeros(2, 0, A), torch.zeros(A)
    assert additive_scores(*empty, torch.zeros(2, 0, dtype=torch.bool)).shape == (2, 0, 0)
