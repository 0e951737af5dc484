import pytest
import torch
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.choices import choose_greedily


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_within_rounding_are_equal_and_the_leftmost_wins(dtype: torch.dtype):
    query = torch.tensor([3.0, 4.0], dtype=dtype)  # of norm 5
    eps = torch.finfo(dtype).eps
    scores = torch.tensor([[0.0, 1.0, 1.0 + 4 * eps], [0.0, 1.0, 1.0 + 1000 * eps]], dtype=dtype)
    allowed = torch.ones(2, 3, dtype=torch.bool)
    assert choose_greedily(scores, allowed, query).tolist() == [1, 2]


def test_only_allowed_pairs_are_chosen():
    scores = torch.tensor([[0.1, 0.7, 0.9], [0.3, 0.2, 0.9]])
    allowed = torch.tensor([[True, True, False], [False, False, False]])
    assert choose_greedily(scores, allowed, torch.ones(2)).tolist() == [1, 0]
