import pytest
import torch

from allennlp_sentmatch.nn import gumbel_tree_lstm as tree_merges
from allennlp_sentmatch.nn.gumbel_tree_lstm import bracketing, check_merges


@pytest.mark.parametrize(
    ("merges", "tokens", "expected"),
    [
        ([0, 0, 0], "the cat sat down", "(((the cat) sat) down)"),
        ([2, 1, 0], "the cat sat down", "(the (cat (sat down)))"),
        ([0, 1, 0], "the cat sat down", "((the cat) (sat down))"),
        ([2, 0, 0], "the cat sat down", "((the cat) (sat down))"),
        ([1, 0, -1, -1], "cats ( sleep", "(cats (-LRB- sleep))"),
        ([], "cats", "cats"),
        ([-1], "", ""),
    ],
)
def test_bracketing(merges: list[int], tokens: str, expected: str):
    assert bracketing(merges, tokens.split()) == expected
    assert bracketing(torch.tensor(merges), tokens.split()) == expected


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ([0], "merges must hold 2 steps for 3 tokens, got 1"),
        ([0, 1], r"merges\[1\] must lie between 0 and 0, for 2 nodes are left of 3"),
        ([-1, 0], r"merges\[0\] must lie between 0 and 1, for 3 nodes are left of 3"),
    ],
)
def test_bracketing_of_no_tree(merges: list[int], message: str):
    with pytest.raises(ValueError, match=message):
        bracketing(merges, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ([[0, 0]], r"shape .* \(2, 2\), got \(1, 2\)"),
        ([[2, 0], [0, 0]], r"merges\[0, 0\] must lie between 0 and 1, got 2"),
        ([[0, -1], [0, 0]], r"merges\[0, 1\] must lie between 0 and 0, got -1"),
    ],
)
def test_impossible_merges(merges: list[list[int]], message: str):
    mask = torch.tensor([[True, True, True], [True, True, False]])
    with pytest.raises(ValueError, match=message):
        check_merges(torch.tensor(merges), mask)


def test_possible_merges():
    mask = torch.tensor([[True, True, True], [True, True, False], [False] * 3])
    check_merges(torch.tensor([[1, 0], [0, -1], [-1, 7]]), mask)
    check_merges(torch.empty(3, 0, dtype=torch.long), mask[:, :1])
    check_merges(torch.empty(3, 0, dtype=torch.long), mask[:, :0])


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32])
def test_merges_must_be_long(dtype: torch.dtype):
    with pytest.raises(TypeError, match=r"merges must be long, got .*; call merges.long\(\)"):
        check_merges(torch.zeros(1, 2, dtype=dtype), torch.ones(1, 3, dtype=torch.bool))


def test_values_are_not_checked_while_torch_records_operations(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tree_merges, "is_compiling_or_tracing", lambda: True)
    mask = torch.ones(1, 3, dtype=torch.bool)
    check_merges(torch.full((1, 2), 9), mask)
    with pytest.raises(ValueError, match="shape"):
        check_merges(torch.full((1, 3), 9), mask)
