"""The backend "eager" of the Gumbel Tree-LSTM's composition against the naive form."""

from typing import Optional

import pytest
import torch

from allennlp_sentmatch.nn.gumbel_tree_lstm import GumbelTreeLSTM
from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.tree import eager, naive
from allennlp_sentmatch.nn.ops.tree.derivatives import Derivatives

D, H = 3, 5


def make(temperature: float = 1.0) -> GumbelTreeLSTM:
    torch.manual_seed(0)
    model = GumbelTreeLSTM(D, H, "affine", temperature).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model


def batch(lengths: list[int], num_tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    inputs = torch.randn(len(lengths), num_tokens, D, dtype=torch.float64)
    return inputs, torch.arange(num_tokens) < torch.tensor(lengths).unsqueeze(1)


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
    with use_backend(backend):
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


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_the_gradient_of_the_estimator_is_exact(temperature: float, seed: int):
    """Under one noise, with copy masks whose gradients flow through every layer."""
    model = make(temperature).train()
    torch.manual_seed(seed)
    inputs, mask = batch([12, 2, 0, 9, 12, 1, 7, 3], 14)
    actual = values_and_gradients(model, inputs, mask, "eager")
    assert actual["query"].abs().min() > 1e-6
    assert_same(actual, values_and_gradients(model, inputs, mask, "naive"))


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_given_trees(seed: int, given: bool):
    model = make().eval()
    torch.manual_seed(seed)
    lengths = [12, 2, 0, 9, 12, 1, 7, 3]
    inputs, mask = batch(lengths, 14)
    merges = None
    if given:
        merges = torch.full((8, 13), -1)
        for row, length in enumerate(lengths):
            for step in range(length - 1):
                merges[row, step] = torch.randint(length - 1 - step, ())
    actual = values_and_gradients(model, inputs, mask, "eager", merges=merges)
    assert_same(actual, values_and_gradients(model, inputs, mask, "naive", merges=merges))
    with torch.no_grad():
        root = model.compose(inputs, mask, merges)
    assert_same(root._asdict(), {name: actual[name].detach() for name in root._fields})


def test_a_gradient_of_the_hidden_state_or_the_cell_alone():
    model = make().train()
    inputs, mask = batch([4, 3], 4)
    for field in ("hidden", "cell"):
        gradients = []
        for backend in ("eager", "naive"):
            torch.manual_seed(7)
            with use_backend(backend):
                root = getattr(model.compose(inputs, mask), field)
            gradients.append(torch.autograd.grad(root.square().sum(), model.composition.weight))
        torch.testing.assert_close(*gradients, atol=1e-9, rtol=1e-9)


class CellCounter:
    """Counts the candidates that `tree_lstm_cell` computes in a module."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: object) -> None:
        self.count = 0
        cell = module.tree_lstm_cell

        def counting_cell(pre_activations: torch.Tensor, *cells: torch.Tensor) -> object:
            self.count += pre_activations.numel() // (5 * H)
            return cell(pre_activations, *cells)

        monkeypatch.setattr(module, "tree_lstm_cell", counting_cell)


@pytest.mark.parametrize("training", [False, True])
def test_each_candidate_is_computed_once(monkeypatch: pytest.MonkeyPatch, training: bool):
    in_eager, in_naive = CellCounter(monkeypatch, eager), CellCounter(monkeypatch, naive)
    model = make().train(training)
    N = 20
    inputs, mask = batch([N], N)
    model(inputs, mask)
    # A candidate for each pair of words, and two for each merge but the last.
    assert in_eager.count == (N - 1) + 2 * (N - 2)
    assert in_naive.count == 0
    with use_backend("naive"):
        model(inputs, mask)
    assert in_naive.count == N * (N - 1) // 2


@pytest.mark.parametrize("training", [False, True])
def test_finished_sentences_and_padding_cost_nothing(
    monkeypatch: pytest.MonkeyPatch, training: bool
):
    counter = CellCounter(monkeypatch, eager)
    rows = []  # of the derivatives in the backward pass
    of = Derivatives.of
    monkeypatch.setattr(
        Derivatives, "of", lambda backend, x, *cells: rows.append(len(x)) or of(backend, x, *cells)
    )
    model = make().train(training)
    lengths = [3, 20, 0, 3, 1, 8, 2]
    inputs, mask = batch(lengths, 25)
    model(inputs, mask).sum().backward()
    assert counter.count == sum((N - 1) + 2 * (N - 2) for N in lengths if N > 1)
    merged = sum(N - 1 for N in lengths if N > 1)
    # In training, a merge removes three candidates from a layer: its own and its neighbors'.
    assert sum(rows) == (3 * merged if training else merged)


def test_tables_are_written_before_they_are_read(monkeypatch: pytest.MonkeyPatch):
    new_empty = torch.Tensor.new_empty
    monkeypatch.setattr(
        torch.Tensor, "new_empty", lambda *args, **kw: new_empty(*args, **kw).fill_(torch.nan)
    )
    model = make().train()
    inputs, mask = batch([5, 1, 0, 3, 5], 6)
    for value in values_and_gradients(model, inputs, mask, "eager").values():
        assert torch.isfinite(value).all()
