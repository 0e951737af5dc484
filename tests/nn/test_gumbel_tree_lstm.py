"""The Gumbel Tree-LSTM against the equations of the thesis, one sentence and node at a time."""

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
    h_l, c_l = left
    h_r, c_r = right
    products = model.composition.weight @ torch.cat([h_l, h_r])
    *gates, g = (products + model.composition.bias).chunk(5)
    i, f_l, f_r, o = (gate.sigmoid() for gate in gates)  # (3.1)
    c = f_l * c_l + f_r * c_r + i * g.tanh()  # (3.2)
    return o * c.tanh(), c  # (3.3)


def merged(r: torch.Tensor, candidate: torch.Tensor, y_bar: torch.Tensor) -> torch.Tensor:
    """Return the states of the next layer (M_{t+1}, H), given the choice y_bar (M_{t+1},)."""
    m_l = 1 - y_bar.cumsum(0)  # (3.18)
    m_r = torch.cat([y_bar.new_zeros(1), y_bar[:-1].cumsum(0)])  # (3.19)
    return m_l[:, None] * r[:-1] + m_r[:, None] * r[1:] + y_bar[:, None] * candidate  # (3.14)


def compose_as_in_the_paper(
    model: GumbelTreeLSTM, nodes: list[Node], noise: list[torch.Tensor]
) -> tuple[Node, list[int]]:
    """Equations 3.14-3.24, with `noise[t]` the Gumbel noise of layer t: greedily, if it is zero."""
    merges = []
    for g in noise[: len(nodes) - 1]:
        pairs = [parent(model, left, right) for left, right in zip(nodes, nodes[1:])]
        M = len(pairs)  # the paper's M_{t+1}
        candidate_h = torch.stack([h for h, _ in pairs])
        candidate_c = torch.stack([c for _, c in pairs])
        logits = candidate_h @ model.query + g[:M]
        y = (logits / model.temperature).softmax(0)  # (3.8)
        y_st = torch.zeros_like(y)
        y_st[logits.argmax()] = 1.0  # (3.21)
        merges.append(int(logits.argmax()))
        y_bar = (y_st - y).detach() + y  # (3.24)
        hs = merged(torch.stack([h for h, _ in nodes]), candidate_h, y_bar)
        cs = merged(torch.stack([c for _, c in nodes]), candidate_c, y_bar)
        nodes = list(zip(hs, cs))
    (root,) = nodes
    return root, merges


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    """Fixed noise in place of the sampled: (sentences, layers, candidates)."""
    generator = torch.Generator().manual_seed(5)
    uniform = torch.rand(
        len(LENGTHS),
        T,
        T,
        dtype=torch.float64,
        generator=generator,
    )
    noise = -(-uniform.log()).log()  # (3.22)
    of_layers = [noise[:, layer, : T - 1 - layer] for layer in range(T - 1)]
    joined = torch.cat(of_layers, 1)
    monkeypatch.setattr(gumbel_softmax, "gumbel_noise", lambda logits: joined)
    return noise


def encode_as_in_the_paper(
    model: GumbelTreeLSTM, sentence: torch.Tensor, noise: torch.Tensor
) -> tuple[Node, list[int]]:
    """Return the root and the merges; zeros for an empty sentence."""
    if len(sentence) == 0:
        zeros = torch.zeros(model.output_size, dtype=torch.float64)
        return (zeros, zeros), []
    leaves = leaves_as_in_the_paper(model, sentence)
    return compose_as_in_the_paper(model, leaves, list(noise))


@by_both_backends
@pytest.mark.parametrize(
    ("training", "temperature"),
    [
        (False, 1.0),
        (True, 1.0),
        (True, 0.3),
    ],
)
@pytest.mark.parametrize("leaf", LEAVES)
def test_equations(leaf: str, training: bool, temperature: float, noise: torch.Tensor):
    model = make(leaf, temperature).train(training)
    inputs, mask = batch(LENGTHS, T, D, seed=1)
    composition = model.compose(inputs, mask)
    assert_same(model(inputs, mask), composition.hidden)
    trees = set()
    for row, length in enumerate(LENGTHS):
        own_noise = noise[row] * training
        (h, c), merges = encode_as_in_the_paper(model, inputs[row, :length], own_noise)
        assert_same(composition.hidden[row], h)
        assert_same(composition.cell[row], c)
        padding = [-1] * (T - 1 - len(merges))
        assert composition.merges[row].tolist() == merges + padding
        trees.add(tuple(merges))
    assert len(trees) == 5
    positions = [position for tree in trees for position in tree]
    assert max(positions) > 0  # trees that differ from left-to-right ones


@by_both_backends
@pytest.mark.parametrize("temperature", [1.0, 0.3])
@pytest.mark.parametrize("leaf", LEAVES)
def test_gradients(leaf: str, temperature: float, noise: torch.Tensor):
    """The scores' gradients flow through the copy masks, too."""
    model = make(leaf, temperature).train()
    inputs, mask = batch(LENGTHS, T, D, seed=1)
    inputs.requires_grad_()
    variables = [inputs, *model.parameters()]
    shape = (len(LENGTHS), model.output_size)
    weight_of_h = torch.randn(shape, dtype=torch.float64)
    weight_of_c = torch.randn(shape, dtype=torch.float64)
    expected_loss = torch.zeros((), dtype=torch.float64)
    for row, length in enumerate(LENGTHS):
        (h, c), _ = encode_as_in_the_paper(model, inputs[row, :length], noise[row])
        expected_loss = expected_loss + weight_of_h[row] @ h + weight_of_c[row] @ c
    composition = model.compose(inputs, mask)
    loss = (weight_of_h * composition.hidden + weight_of_c * composition.cell).sum()
    gradients = torch.autograd.grad(loss, variables)
    for gradient, expected in zip(gradients, torch.autograd.grad(expected_loss, variables)):
        assert_same(gradient, expected)
    names = ["inputs", *(name for name, _ in model.named_parameters())]
    assert gradients[names.index("query")].all()


@by_both_backends
@pytest.mark.parametrize("training", [False, True])
def test_a_left_branching_tree_is_a_recurrence_from_left_to_right(training: bool):
    model = make("affine").train(training)
    inputs, mask = batch(LENGTHS, T, D, seed=1)
    merges = torch.zeros(len(LENGTHS), T - 1, dtype=torch.long)
    composition = model.compose(inputs, mask, merges)
    zeros = torch.zeros(H, dtype=torch.float64)
    for row, length in enumerate(LENGTHS):
        h = zeros
        c = zeros
        for position, leaf in enumerate(leaves_as_in_the_paper(model, inputs[row, :length])):
            h, c = parent(model, (h, c), leaf) if position else leaf
        assert_same(composition.hidden[row], h)
        assert_same(composition.cell[row], c)
    assert torch.equal(composition.merges, merges.masked_fill(~mask[:, 1:], -1))


@by_both_backends
@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("steps", [0, 1])
def test_batches_of_at_most_one_step(steps: int, leaf: str):
    model = make(leaf)
    inputs, mask = batch(LENGTHS, T, D, seed=1)
    mask = mask[:, :steps]
    hidden, cell, merges = model.compose(inputs[:, :steps], mask)
    assert hidden.shape == (len(LENGTHS), model.output_size)
    assert cell.shape == (len(LENGTHS), model.output_size)
    assert merges.shape == (len(LENGTHS), 0)
    assert merges.dtype == torch.long
    assert hidden.any(1).tolist() == mask.any(1).tolist()


REPEATED_WORDS = 13


SIZES = (37, 5)
"""At these sizes, the choice would depend on rounding, on the CPUs tested."""


@pytest.fixture(scope="module")
def repeated() -> tuple[GumbelTreeLSTM, torch.Tensor]:
    """Return a model and a sentence of one word."""
    torch.manual_seed(0)
    model = GumbelTreeLSTM(*SIZES, "affine").eval()
    torch.nn.init.normal_(model.query)
    word = torch.randn(1, 1, SIZES[0])
    return model, word.expand(1, REPEATED_WORDS, SIZES[0])


@pytest.mark.parametrize("num_others", [0, 3, 20])
@pytest.mark.parametrize("padding", [0, 1, 6])
@pytest.mark.parametrize("backend", [None, "naive"])
def test_repeated_words_have_one_tree(repeated, num_others: int, padding: int, backend: str):
    """Pairs of equal words are equally good; the choice must not depend on rounding."""
    model, sentence = repeated
    expected = model.compose(sentence, torch.ones(1, REPEATED_WORDS).bool())
    inputs = torch.randn(1 + num_others, REPEATED_WORDS + padding, SIZES[0])
    mask = torch.ones(inputs.shape[:2]).bool()
    inputs[0, :REPEATED_WORDS] = sentence[0]
    mask[0, REPEATED_WORDS:] = False
    with use_backend(backend):
        actual = model.compose(inputs, mask)
    assert torch.equal(actual.merges[:1, : REPEATED_WORDS - 1], expected.merges)
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


THREE_SENTENCES = torch.tensor([[True, True, True], [True, True, False], [False, False, False]])


@pytest.mark.parametrize(
    ("merges", "mask"),
    [
        (torch.tensor([[1, 0], [0, -1], [-1, 7]]), THREE_SENTENCES),
        (torch.empty(3, 0, dtype=torch.long), THREE_SENTENCES[:, :0]),
        (torch.empty(3, 0, dtype=torch.long), THREE_SENTENCES[:, :1]),
        (torch.full((3, 2), 9, device="meta"), THREE_SENTENCES),  # their values cannot be read
    ],
)
def test_possible_merges(merges: torch.Tensor, mask: torch.Tensor):
    check_merges(merges, mask)


def test_merges_of_another_number_of_steps():
    with pytest.raises(ValueError, match="shape"):
        check_merges(torch.full((3, 3), 9), THREE_SENTENCES)


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32])
def test_merges_must_be_long(dtype: torch.dtype):
    with pytest.raises(TypeError, match=r"merges must be long, got .*; call merges.long\(\)"):
        check_merges(torch.zeros(1, 2, dtype=dtype), torch.ones(1, 3, dtype=torch.bool))
