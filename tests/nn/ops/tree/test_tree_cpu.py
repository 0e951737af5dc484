"""The checks of tables and steps before they go to the C++."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.tree.choices import Choices
from allennlp_sentmatch.nn.ops.tree.cpu import BoundSteps
from allennlp_sentmatch.nn.ops.tree.cpu_gradient import BoundScores
from allennlp_sentmatch.nn.ops.tree.cpu_gradient import BoundSteps as BoundGradientSteps
from allennlp_sentmatch.nn.ops.tree.tables import CPUTreeTables
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED
H = 4
SIZES = [3, 2, 2]
B, T, N = 3, 3, 7
R, K = 11, 8

GREEDY = Choices(None, None, 1.0)


def make_tables(sizes=SIZES):
    return CPUTreeTables.new(torch.zeros(sum(sizes), H), sizes, is_sampled=True, keep=True)


def bind(tables, choices=GREEDY, sizes=SIZES, **changed):
    arguments = {"query": torch.zeros(H), "leaf_projections": torch.zeros(sum(sizes), 10 * H)}
    return BoundSteps(sizes, tables, choices=choices, **{**arguments, **changed})


def bind_gradient(tables, sizes=SIZES, **changed):
    arguments = {
        "merges": torch.zeros(sizes[0], len(sizes) - 1, dtype=torch.long),
        "root": [torch.zeros(B, H)] * 2,
        "by_scores": (torch.zeros(K, 2 * H), torch.zeros(K, 2 * H)),
    }
    arguments.update(changed)
    return BoundGradientSteps(sizes, tables, torch.zeros(H), **arguments, temperature=1.0)


def test_the_rows_are_those_of_the_layout():
    tables = make_tables()
    assert [len(x) for x in (tables.hidden, tables.cell)] == [R, R]
    assert [len(x) for x in tables[2:6]] == [K, K, K, K]
    tables = CPUTreeTables.new(torch.zeros(N, H), SIZES, is_sampled=True, keep=False)
    assert [len(x) for x in tables[:4]] == [N, N, N - B, N - B]
    assert tables[4:] == (None, None, None, None)


SPOILED = pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: torch.stack([x, x], -1)[..., 0], "contiguous"),
        (lambda x: x.double() if x.is_floating_point() else x.int(), "expected a table"),
        (lambda x: x.to("meta"), "on meta"),
        (lambda x: x[:-1].contiguous(), "expected a table"),
    ],
    ids=["strided", "other precision", "elsewhere", "short"],
)


@SPOILED
@pytest.mark.parametrize("name", CPUTreeTables._fields)
def test_a_wrong_table_is_refused(name, spoil, message):
    tables = make_tables()
    bind(tables)
    bind_gradient(tables)
    tables = tables._replace(**{name: spoil(getattr(tables, name))})
    with pytest.raises(ValueError, match=message):
        bind(tables)
    with pytest.raises(ValueError, match=message):
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


@pytest.mark.parametrize("sizes", [[2, 3], [2, 0]])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match="sizes must"):
        bind(make_tables(sizes), sizes=sizes)


def test_steps_follow_each_other():
    steps = bind(make_tables())
    for wrong, projections in ((-1, None), (1, torch.zeros(2, 10 * H)), (2, None)):
        with pytest.raises(IndexError):
            steps.run(wrong, projections)
    steps.run(0, None)
    for wrong in (0, 1):  # again, and without the projections of the parents
        with pytest.raises(IndexError):
            steps.run(wrong, None)
    with pytest.raises(ValueError, match="expected a table"):
        steps.run(1, torch.zeros(1, 10 * H))
    steps.run(1, torch.zeros(2, 10 * H))
    with pytest.raises(IndexError):
        steps.run(2, None)


def test_backward_steps_follow_each_other():
    tables = make_tables()
    forward = bind(tables)
    forward.run(0, None)
    forward.run(1, torch.zeros(2, 10 * H))
    steps = bind_gradient(tables, merges=forward.merges)
    for wrong in (-2, -1, 0, 2):
        with pytest.raises(IndexError):
            steps.run(wrong, None)
    steps.run(1, None)
    with pytest.raises(IndexError):
        steps.run(0, None)  # without the product
    with pytest.raises(ValueError, match="expected a table"):
        steps.run(0, torch.zeros(1, 2 * H))
    steps.run(0, torch.zeros(2, 2 * H))
    steps.run(-1, torch.zeros(2, 2 * H))
    with pytest.raises(IndexError):
        steps.run(-2, None)


@pytest.mark.parametrize("index", [-1, 2])
def test_a_merge_beyond_the_nodes_is_refused(index):
    merges = torch.zeros(B, T - 1, dtype=torch.long)
    merges[1, 0] = index
    with pytest.raises(IndexError):
        bind(make_tables(), Choices(merges, None, 1.0)).run(0, None)


def test_noise_of_too_few_pairs_is_refused():
    noise = [torch.zeros(B, 1), torch.zeros(B, 1)]
    with pytest.raises(IndexError):
        bind(make_tables(), Choices(None, noise, 1.0)).run(0, None)


@pytest.mark.parametrize(("first", "size"), [(-1, 1), (0, K + 1), (K, 1)])
def test_rows_beyond_the_candidates_are_refused(first, size):
    scores = BoundScores(make_tables(), torch.zeros(H), torch.zeros(K, 2 * H))
    with pytest.raises(IndexError):
        scores.run(first, torch.zeros(size, 5 * H))
