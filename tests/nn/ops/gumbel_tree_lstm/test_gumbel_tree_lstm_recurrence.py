"""The compiled composition of the Gumbel Tree-LSTM against the naive form."""

from copy import deepcopy
from functools import partial
from typing import Optional

import pytest
import torch

from allennlp_sentmatch.nn import gumbel_tree_lstm
from allennlp_sentmatch.nn.gumbel_softmax import gumbel_noise
from allennlp_sentmatch.nn.gumbel_tree_lstm import GumbelTreeLSTM
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.naive import choose_greedily
from tests.nn import equations
from tests.nn.ops.conftest import CPU_BACKENDS, run_by

D, H = 3, 5
LENGTHS = [12, 2, 0, 9, 12, 1, 7, 3]

batch = partial(equations.batch, size=D)
every_backend = pytest.mark.parametrize("backend", CPU_BACKENDS)


def make(temperature: float = 1.0) -> GumbelTreeLSTM:
    torch.manual_seed(0)
    model = GumbelTreeLSTM(D, H, "affine", temperature).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model


def values_and_gradients(
    model: GumbelTreeLSTM,
    inputs: torch.Tensor,
    mask: torch.Tensor,
    backend: str,
    merges: Optional[torch.Tensor] = None,
) -> dict[str, torch.Tensor]:
    torch.manual_seed(7)  # of the Gumbel noise
    inputs = inputs.clone().requires_grad_()
    model.zero_grad()
    with run_by(backend):
        root = model.compose(inputs, mask, merges)
        generator = torch.Generator().manual_seed(8)
        weights = torch.randn(2, *root.hidden.shape, dtype=torch.float64, generator=generator)
        (weights[0] * root.hidden + weights[1] * root.cell).sum().backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    return {**root._asdict(), "inputs": inputs.grad, **gradients}


def assert_same(actual: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    for name, value in expected.items():
        if value is None:
            assert actual[name] is None, name
        else:
            torch.testing.assert_close(
                actual[name], value, atol=1e-9, rtol=1e-9, msg=lambda text, name=name: name + text
            )


@every_backend
def test_large_scores_do_not_overflow(backend: str):
    """The relaxation's exponential functions are those of differences to the highest score."""
    model = make(0.5).train()
    with torch.no_grad():
        model.query.mul_(1000)
    inputs, mask = batch(LENGTHS, 14)
    actual = values_and_gradients(model, inputs, mask, backend)
    assert_same(actual, values_and_gradients(model, inputs, mask, "naive"))


@every_backend
def test_single_precision(backend: str):
    torch.manual_seed(0)
    model = GumbelTreeLSTM(D, 37, "affine")
    torch.nn.init.normal_(model.query)
    inputs, mask = batch(LENGTHS, 12)
    expected = values_and_gradients(deepcopy(model).double(), inputs, mask, "naive")
    with pytest.MonkeyPatch.context() as patch:
        # Draw the noise in double precision, too.
        patch.setattr(
            gumbel_tree_lstm.gumbel_softmax,
            "gumbel_noise",
            lambda x: gumbel_noise(x.double()).to(x.dtype),
        )
        actual = values_and_gradients(model, inputs.float(), mask, backend)
    torch.testing.assert_close(actual.pop("merges"), expected.pop("merges"))
    for name, value in expected.items():
        assert (actual[name] - value).norm() < 1e-5 * value.norm(), name


@every_backend
def test_given_trees(backend: str):
    model = make()
    inputs, mask = batch(LENGTHS, 14)
    merges = torch.full((8, 13), -1)
    for row, length in enumerate(LENGTHS):
        for step in range(length - 1):
            merges[row, step] = torch.randint(length - 1 - step, ())
    actual = values_and_gradients(model, inputs, mask, backend, merges=merges)
    assert_same(actual, values_and_gradients(model, inputs, mask, "naive", merges=merges))
    with torch.no_grad(), run_by(backend):
        root = model.compose(inputs, mask, merges)
    assert_same(root._asdict(), {name: actual[name].detach() for name in root._fields})


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_within_rounding_are_equal_and_the_leftmost_wins(dtype: torch.dtype):
    query = torch.tensor([3.0, 4.0], dtype=dtype)  # of norm 5
    eps = torch.finfo(dtype).eps
    scores = torch.tensor([[0.0, 1.0, 1.0 + 4 * eps], [0.0, 1.0, 1.0 + 1000 * eps]], dtype=dtype)
    allowed = torch.ones(2, 3, dtype=torch.bool)
    assert choose_greedily(scores, allowed, query).tolist() == [1, 2]
