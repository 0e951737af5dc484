"""Properties of the Gumbel Tree-LSTM that test_every_recurrence.py does not compare."""

import pytest
import torch

from allennlp_sentmatch.nn.gumbel_tree_lstm import GumbelTreeLSTM
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.naive import choose_greedily
from tests.nn.equations import batch, normal
from tests.nn.ops.conftest import CPU_BACKENDS, run_by


@pytest.mark.parametrize("backend", CPU_BACKENDS)
def test_large_scores_do_not_overflow(backend: str):
    """The relaxation takes exponentials of differences to the highest score."""
    torch.manual_seed(0)
    model = normal(GumbelTreeLSTM(3, 5, "affine", temperature=0.5))
    with torch.no_grad():
        model.query.mul_(1000)
    inputs, mask = batch([12, 2, 0, 9, 12, 1, 7, 3], 14, 3)
    leaves = [inputs.requires_grad_(), *model.parameters()]
    results = []
    for name in (backend, "naive"):
        torch.manual_seed(7)  # of the Gumbel noise
        with run_by(name):
            root = model.compose(inputs, mask)
            loss = root.hidden.square().sum() + root.cell.sum()
            results.append([*root, *torch.autograd.grad(loss, leaves)])
    torch.testing.assert_close(*results, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_within_rounding_are_equal_and_the_leftmost_wins(dtype: torch.dtype):
    query = torch.tensor([3.0, 4.0], dtype=dtype)  # of norm 5
    eps = torch.finfo(dtype).eps
    scores = torch.tensor([[0.0, 1.0, 1.0 + 4 * eps], [0.0, 1.0, 1.0 + 1000 * eps]], dtype=dtype)
    allowed = torch.ones(2, 3, dtype=torch.bool)
    assert choose_greedily(scores, allowed, query).tolist() == [1, 2]
