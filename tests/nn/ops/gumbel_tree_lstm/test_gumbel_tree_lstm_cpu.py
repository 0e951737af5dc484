"""The checks of tables and steps before they go to the C++."""

import pytest
import torch
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.choices import Choices
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.cpu_gradient import NativeGradient
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.tables import TreeTables

from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.cpu import NativeComposition
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED
H = 4
SIZES = [3, 2, 2]
B, T, N = 3, 3, 7
R, K = 11, 8

GREEDY = Choices(None, None, 1.0)


def make_tables(sizes=SIZES):
    return TreeTables.new(torch.zeros(sum(sizes), H), sizes, is_sampled=True, keep=True)


def bind(tables, choices=GREEDY, sizes=SIZES, **changed):
    arguments = {"query": torch.zeros(H), "leaf_projections": torch.zeros(sum(sizes), 10 * H)}
    return NativeComposition(sizes, tables, choices=choices, **{**arguments, **changed})


def bind_gradient(tables, sizes=SIZES, **changed):
    arguments = {
        "merges": torch.zeros(sizes[0], len(sizes) - 1, dtype=torch.long),
        "root": [torch.zeros(B, H)] * 2,
        "by_scores": (torch.zeros(K, 2 * H), torch.zeros(K, 2 * H)),
    }
    arguments.update(changed)
    return NativeGradient(sizes, tables, torch.zeros(H), **arguments, temperature=1.0)


def test_the_rows_are_those_of_the_layout():
    tables = make_tables()
    assert [len(x) for x in (tables.hidden, tables.cell)] == [R, R]
    assert [len(x) for x in tables[2:6]] == [K, K, K, K]
    tables = TreeTables.new(torch.zeros(N, H), SIZES, is_sampled=True, keep=False)
    assert [len(x) for x in tables[:4]] == [N, N, N - B, N - B]
    assert tables[4:] == (None, None, None, None)


@pytest.mark.parametrize("name", TreeTables._fields)
def test_a_wrong_table_is_refused(name):
    tables = make_tables()
    bind(tables)
    bind_gradient(tables)
    tables = tables._replace(**{name: getattr(tables, name)[:-1].contiguous()})
    with pytest.raises(ValueError, match="expected a table"):
        bind(tables)
    with pytest.raises(ValueError, match="expected a table"):
        bind_gradient(tables)


@pytest.mark.parametrize("name", ["query", "leaf_projections"])
def test_a_wrong_argument_is_refused(name):
    wrong = {"query": torch.zeros(H + 1), "leaf_projections": torch.zeros(N, 10 * H).double()}
    with pytest.raises(ValueError, match="expected a table"):
        bind(make_tables(), **{name: wrong[name]})


@pytest.mark.parametrize("name", ["merges", "root", "by_scores"])
def test_a_wrong_argument_of_the_gradient_is_refused(name):
    wrong = {
        "merges": torch.zeros(B, T, dtype=torch.long),
        "root": [torch.zeros(B, H), torch.zeros(B, H).double()],
        "by_scores": (torch.zeros(K, 2 * H), torch.zeros(K - 1, 2 * H)),
    }
    with pytest.raises(ValueError, match="expected a table"):
        bind_gradient(make_tables(), **{name: wrong[name]})


@pytest.mark.parametrize("sizes", [[2, 3], [3, 1, 2]])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match="sizes must"):
        bind(make_tables(sizes), sizes=sizes)


def test_wrong_products_are_refused():
    tables = make_tables()
    steps = bind(tables)
    steps.run(0, None)
    with pytest.raises(ValueError, match="expected a table"):
        steps.run(1, torch.zeros(1, 10 * H))
    steps.run(1, torch.zeros(2, 10 * H))
    gradient = bind_gradient(tables, merges=steps.merges)
    gradient.run(1, None)
    with pytest.raises(ValueError, match="expected a table"):
        gradient.run(0, torch.zeros(1, 2 * H))


def test_a_sentence_has_two_tokens():
    with pytest.raises(ValueError, match="two tokens"):
        bind(TreeTables.new(torch.zeros(2, H), [2], is_sampled=True, keep=False), sizes=[2])


def test_noise_of_too_few_pairs_is_refused():
    noise = [torch.zeros(B, 1), torch.zeros(B, 1)]
    with pytest.raises(ValueError, match="noise of 2 pairs, got 1"):
        bind(make_tables(), Choices(None, noise, 1.0))
