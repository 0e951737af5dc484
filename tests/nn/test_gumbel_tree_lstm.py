"""The Gumbel Tree-LSTM against the equations of the thesis, one sentence and node at a time."""

import itertools

import pytest
import torch

from allennlp_sentmatch.nn import gumbel_softmax
from allennlp_sentmatch.nn.gumbel_tree_lstm import GumbelTreeLSTM, bracketing, check_merges
from allennlp_sentmatch.nn.ops.backends import use_backend
from tests.nn.equations import assert_same, batch, normal, read_network

D = 3
H = 4
LENGTHS = [6, 1, 4, 0, 2, 5]
T = max(LENGTHS)
LEAVES = ["lstm", "bilstm", "affine"]

Node = tuple[torch.Tensor, torch.Tensor]
by_both_backends = pytest.mark.usefixtures("both_backends")


def make(leaf: str = "affine", temperature: float = 1.0) -> GumbelTreeLSTM:
    torch.manual_seed(0)
    return normal(GumbelTreeLSTM(D, H, leaf, temperature))


def leaves_as_in_the_paper(model: GumbelTreeLSTM, sentence: torch.Tensor) -> list[Node]:
    if isinstance(model.leaf, torch.nn.Linear):
        states = [model.leaf.weight @ x + model.leaf.bias for x in sentence]  # (3.10)
        return [(r[:H], r[H:]) for r in states]
    states = read_network(model.leaf, sentence)  # (3.13)
    return [(state[:, 0].flatten(), state[:, 1].flatten()) for state in states]


def parent(model: GumbelTreeLSTM, left: Node, right: Node) -> Node:
    weight = model.composition.weight
    bias = model.composition.bias
    *gates, g = (weight @ torch.cat([left[0], right[0]]) + bias).chunk(5)
    i, f_l, f_r, o = (gate.sigmoid() for gate in gates)  # (3.1)
    c = f_l * left[1] + f_r * right[1] + i * g.tanh()  # (3.2)
    return o * c.tanh(), c  # (3.3)


def compose_as_in_the_paper(
    model: GumbelTreeLSTM, nodes: list[Node], noise: list[torch.Tensor]
) -> tuple[Node, list[int]]:
    """Equations 3.14-3.24, with `noise[t]` the Gumbel noise of layer t: greedily, if it is zero."""
    hs, cs = (torch.stack(part) for part in zip(*nodes))  # (M_t, H)
    merges = []
    for g in noise[: len(nodes) - 1]:
        M = hs.size(0) - 1  # the paper's M_{t+1}
        pairs = [parent(model, (hs[j], cs[j]), (hs[j + 1], cs[j + 1])) for j in range(M)]
        candidate_h, candidate_c = (torch.stack(part) for part in zip(*pairs))
        logits = candidate_h @ model.query + g[:M]
        y = (logits / model.temperature).softmax(0)  # (3.8)
        y_st = torch.zeros_like(y)
        y_st[logits.argmax()] = 1.0  # (3.21)
        merges.append(int(logits.argmax()))
        y_bar = (y_st - y).detach() + y  # (3.24)
        m_l = 1 - y_bar.cumsum(0)  # (3.18)
        m_r = torch.cat([y_bar.new_zeros(1), y_bar[:-1].cumsum(0)])  # (3.19)
        hs, cs = (
            m_l[:, None] * r[:-1] + m_r[:, None] * r[1:] + y_bar[:, None] * candidate  # (3.14)
            for r, candidate in ((hs, candidate_h), (cs, candidate_c))
        )
    return (hs[0], cs[0]), merges


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    """Fixed noise in place of the sampled: (sentences, layers, candidates)."""
    generator = torch.Generator().manual_seed(5)
    uniform = torch.rand(len(LENGTHS), T, T, dtype=torch.float64, generator=generator)
    noise = -(-uniform.log()).log()  # (3.22)
    monkeypatch.setattr(
        gumbel_softmax,
        "gumbel_noise",
        lambda logits: torch.cat([noise[:, k, : T - 1 - k] for k in range(T - 1)], 1),
    )
    return noise


@by_both_backends
@pytest.mark.parametrize(("training", "temperature"), [(False, 1.0), (True, 1.0), (True, 0.3)])
@pytest.mark.parametrize("leaf", LEAVES)
def test_equations(leaf: str, training: bool, temperature: float, noise: torch.Tensor):
    """In training also gradients; the scores' gradients flow through the copy masks, too."""
    model = make(leaf, temperature).train(training)
    inputs, mask = batch(LENGTHS, T, D, seed=1)
    inputs.requires_grad_()
    upstream = torch.randn(2, len(LENGTHS), model.output_size, dtype=torch.float64)
    composition = model.compose(inputs, mask)
    assert_same(model(inputs, mask), composition.hidden)
    expected_loss = torch.zeros((), dtype=torch.float64)
    trees = set()
    for row, length in enumerate(LENGTHS):
        h = c = torch.zeros(model.output_size, dtype=torch.float64)
        merges: list[int] = []
        if length:
            leaves = leaves_as_in_the_paper(model, inputs[row, :length])
            (h, c), merges = compose_as_in_the_paper(model, leaves, list(noise[row] * training))
        assert_same(composition.hidden[row], h)
        assert_same(composition.cell[row], c)
        assert composition.merges[row].tolist() == merges + [-1] * (T - 1 - len(merges))
        expected_loss = expected_loss + upstream[0, row] @ h + upstream[1, row] @ c
        trees.add(tuple(merges))
    assert len(trees) == 5  # trees that differ from left-to-right ones
    assert max(map(max, filter(None, trees))) > 0
    if training:
        variables = [inputs, *model.parameters()]
        loss = (upstream[0] * composition.hidden + upstream[1] * composition.cell).sum()
        gradients = torch.autograd.grad(loss, variables)
        for gradient, expected in zip(gradients, torch.autograd.grad(expected_loss, variables)):
            assert_same(gradient, expected)
        assert gradients[[name for name, _ in model.named_parameters()].index("query") + 1].all()


@by_both_backends
@pytest.mark.parametrize("training", [False, True])
def test_a_left_branching_tree_is_a_recurrence_from_left_to_right(training: bool):
    model = make("affine").train(training)
    inputs, mask = batch(LENGTHS, T, D, seed=1)
    merges = torch.zeros(len(LENGTHS), T - 1, dtype=torch.long)
    composition = model.compose(inputs, mask, merges)
    for row, length in enumerate(LENGTHS):
        state = (torch.zeros(H).double(), torch.zeros(H).double())
        for position, leaf in enumerate(leaves_as_in_the_paper(model, inputs[row, :length])):
            state = parent(model, state, leaf) if position else leaf
        assert_same(composition.hidden[row], state[0])
        assert_same(composition.cell[row], state[1])
    assert torch.equal(composition.merges, merges.masked_fill(~mask[:, 1:], -1))


@by_both_backends
@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("steps", [0, 1])
def test_batches_of_at_most_one_step(steps: int, leaf: str):
    model = make(leaf)
    inputs, mask = batch(LENGTHS, T, D, seed=1)
    hidden, cell, merges = model.compose(inputs[:, :steps], mask[:, :steps])
    assert hidden.shape == cell.shape == (len(LENGTHS), model.output_size)
    assert merges.shape == (len(LENGTHS), 0)
    assert merges.dtype == torch.long
    assert hidden.any(1).tolist() == mask[:, :steps].any(1).tolist()


def test_repeated_words_have_one_tree():
    """Pairs of equal words are equally good; the choice must not depend on rounding."""
    torch.manual_seed(0)
    input_size = 37
    hidden_size = 5  # at these sizes it would, on the CPUs tested
    model = GumbelTreeLSTM(input_size, hidden_size, "affine").eval()
    torch.nn.init.normal_(model.query)
    length = 13
    sentence = torch.randn(1, 1, input_size).expand(1, length, input_size)
    expected = model.compose(sentence, torch.ones(1, length).bool())
    for others, padding, fast in itertools.product([0, 3, 20], [0, 1, 6], [True, False]):
        inputs = torch.randn(1 + others, length + padding, input_size)
        mask = torch.ones(1 + others, length + padding).bool()
        inputs[0, :length] = sentence[0]
        mask[0, length:] = False
        with use_backend(None if fast else "naive"):
            actual = model.compose(inputs, mask)
        assert torch.equal(actual.merges[:1, : length - 1], expected.merges)
        torch.testing.assert_close(actual.hidden[:1], expected.hidden, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("merges", "tokens", "expected"),
    [
        ([0, 0, 0], "the cat sat down", "(((the cat) sat) down)"),
        ([2, 1, 0], "the cat sat down", "(the (cat (sat down)))"),
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
        make().compose(torch.randn(2, 3, D).double(), mask, torch.tensor(merges))


def test_possible_merges():
    mask = torch.tensor([[True, True, True], [True, True, False], [False] * 3])
    check_merges(torch.tensor([[1, 0], [0, -1], [-1, 7]]), mask)
    for num_tokens in (0, 1):
        check_merges(torch.empty(3, 0, dtype=torch.long), mask[:, :num_tokens])
    check_merges(torch.full((3, 2), 9, device="meta"), mask)  # their values cannot be read
    with pytest.raises(ValueError, match="shape"):
        check_merges(torch.full((3, 3), 9), mask)


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32])
def test_merges_must_be_long(dtype: torch.dtype):
    with pytest.raises(TypeError, match=r"merges must be long, got .*; call merges.long\(\)"):
        check_merges(torch.zeros(1, 2, dtype=dtype), torch.ones(1, 3, dtype=torch.bool))
