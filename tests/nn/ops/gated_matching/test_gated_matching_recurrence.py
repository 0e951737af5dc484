"""The backends of gated matching against its naive form, the equations token by token."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.common.products import Products
from allennlp_sentmatch.nn.ops.common.scan import CAN_RECORD
from allennlp_sentmatch.nn.reading_comprehension import GatedMatching
from tests.nn.ops.conftest import run_by

P, Q, H, A = 3, 5, 19, 21  # of no vector's width
#: The lengths of passages and questions: different and equal ones, empty ones, a single one.
BATCHES = [
    ([7, 2, 0, 5, 7, 1], [4, 2, 3, 0, 1, 4]),
    ([4, 4], [3, 3]),
    ([3], [2]),
    ([1], [1]),
    ([2, 3], [0, 0]),
]

Batch = tuple[Tensor, Tensor, Tensor, Tensor]


@pytest.fixture(params=["eager"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    with run_by(request.param):
        yield request.param


every_backend = pytest.mark.usefixtures("backend")


def make(bidirectional: bool = True) -> GatedMatching:
    torch.manual_seed(0)
    model = GatedMatching(P, Q, H, A, bidirectional).double()
    for parameter in model.parameters():  # large enough for the attention to be far from even
        torch.nn.init.normal_(parameter)
    return model


def batch(passage_lengths: list[int], question_lengths: list[int], padding: int = 1) -> Batch:
    generator = torch.Generator().manual_seed(1)
    tensors = []
    for lengths, size in ((passage_lengths, P), (question_lengths, Q)):
        num_tokens = max(lengths) + padding
        shape = len(lengths), num_tokens, size
        tensors.append(torch.randn(shape, dtype=torch.float64, generator=generator))
        tensors.append(torch.arange(num_tokens) < torch.tensor(lengths).unsqueeze(1))
    return tuple(tensors)


def values_and_gradients(model: GatedMatching, pairs: Batch, use: str) -> dict[str, Tensor]:
    """The results, and the gradients of a sum of those in `use` with random weights."""
    passage, passage_mask, question, question_mask = pairs
    passage, question = (x.clone().requires_grad_() for x in (passage, question))
    hidden, attention = model(passage, passage_mask, question, question_mask)
    results = {"hidden": hidden}
    for direction, weights in enumerate(attention):
        results[f"attention {direction}"] = weights
    generator = torch.Generator().manual_seed(2)
    loss = sum(
        (value * torch.randn(value.shape, generator=generator, dtype=torch.float64)).sum()
        for name, value in results.items()
        if name.split()[0] in use
    )
    variables = {
        "passage": passage,
        "question": question,
        **{name: p for name, p in model.named_parameters() if p.requires_grad},
    }
    gradients = torch.autograd.grad(loss, list(variables.values()), allow_unused=True)
    return {**results, **dict(zip(variables, gradients))}


def assert_same(actual: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        if value is None:
            assert actual[name] is None or not actual[name].any(), name
        else:
            torch.testing.assert_close(
                actual[name], value, atol=1e-9, rtol=1e-9, msg=lambda text, n=name: f"{n}: {text}"
            )


@every_backend
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("use", ["hidden", "attention", "hidden attention"])
@pytest.mark.parametrize("lengths", BATCHES, ids=str)
def test_values_and_gradients_are_those_of_the_equations(lengths, use: str, bidirectional: bool):
    model, pairs = make(bidirectional), batch(*lengths)
    actual = values_and_gradients(model, pairs, use)
    with use_backend("naive"):
        expected = values_and_gradients(model, pairs, use)
    assert_same(actual, expected)
    with torch.no_grad():
        hidden, _ = model(*pairs)
    torch.testing.assert_close(hidden, actual["hidden"], atol=1e-12, rtol=1e-12)


@every_backend
@pytest.mark.parametrize("name", [name for name, _ in make(False).named_parameters()])
def test_a_frozen_parameter(name: str):
    model, pairs = make(False), batch(*BATCHES[0])
    expected = values_and_gradients(model, pairs, "hidden")
    model.get_parameter(name).requires_grad_(False)
    actual = values_and_gradients(model, pairs, "hidden")
    del expected[name]
    assert_same(actual, expected)


@every_backend
def test_gradcheck():
    torch.manual_seed(0)
    model = GatedMatching(P, Q, 2, 3, bidirectional=False).double()
    passage, passage_mask, question, question_mask = batch([3, 1], [2, 3], 0)
    variables = passage.requires_grad_(), question.requires_grad_()

    def match(*_: Tensor) -> tuple[Tensor, ...]:  # gradcheck changes them in place
        hidden, attention = model(variables[0], passage_mask, variables[1], question_mask)
        return hidden, *attention

    assert torch.autograd.gradcheck(match, (*variables, *model.parameters()))


@every_backend
def test_no_tokens():
    model = make()
    for lengths in (([0, 0], [2, 1]), ([2, 1], [0, 0])):
        for padding in (0, 1):
            hidden, attention = model(*batch(*lengths, padding=padding))
            assert hidden.shape == (2, max(lengths[0]) + padding, 2 * H)
            for weights in attention:
                assert weights.shape == (2, max(lengths[0]) + padding, max(lengths[1]) + padding)
                assert not weights.any()


@every_backend
def test_a_second_backward_pass():
    model, pairs = make(), batch(*BATCHES[0])
    hidden, _ = model(*pairs)
    parameters = list(model.parameters())
    first = torch.autograd.grad(hidden.square().sum(), parameters, retain_graph=True)
    second = torch.autograd.grad(hidden.square().sum(), parameters)
    torch.testing.assert_close(first, second, atol=1e-12, rtol=1e-12)


@every_backend
def test_every_element_is_written(monkeypatch: pytest.MonkeyPatch):
    model, pairs = make(), batch(*BATCHES[0])
    expected = values_and_gradients(model, pairs, "hidden attention")
    new_empty = Tensor.new_empty

    def new_nan(self: Tensor, *shape: int, **options: object) -> Tensor:
        return new_empty(self, *shape, **options).fill_(float("nan"))

    monkeypatch.setattr(Tensor, "new_empty", new_nan)
    assert_same(values_and_gradients(model, pairs, "hidden attention"), expected)


@every_backend
def test_scores_may_be_far_apart():
    """Farther than what has an exponential."""
    model, pairs = make(), batch(*BATCHES[0])
    with torch.no_grad():
        model.attention_vector *= 1e4
    actual = values_and_gradients(model, pairs, "hidden")
    with use_backend("naive"):
        assert_same(actual, values_and_gradients(model, pairs, "hidden"))


@every_backend
def test_what_is_no_number_stays_in_its_passage():
    model, (passage, passage_mask, question, question_mask) = make(False), batch(*BATCHES[0])
    expected, _ = model(passage, passage_mask, question, question_mask)
    passage[0, 2] = float("nan")
    actual, _ = model(passage, passage_mask, question, question_mask)
    assert actual[0, 2:7].isnan().all()
    torch.testing.assert_close(actual[0, :2], expected[0, :2], atol=1e-9, rtol=1e-9)
    torch.testing.assert_close(actual[1:], expected[1:], atol=1e-9, rtol=1e-9)


@every_backend
def test_float32_is_near_float64():
    model = make()
    passage, passage_mask, question, question_mask = batch(*BATCHES[0])
    for scale in (1e-3, 1.0, 30.0):
        inputs = [scale * passage, passage_mask, scale * question, question_mask]
        expected, _ = model.double()(*inputs)
        actual, _ = model.float()(*(x.float() if x.is_floating_point() else x for x in inputs))
        torch.testing.assert_close(actual.double(), expected, atol=2e-5, rtol=0)


@every_backend
def test_the_hidden_layer_of_the_attention_is_not_kept():
    model = make()
    pairs = batch([40] * 2, [40] * 2)
    sizes = {}

    def pack(x: Tensor) -> Tensor:
        sizes[x.data_ptr()] = x.numel()
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        model(*pairs)
    tokens = 2 * 2 * 40
    assert sum(sizes.values()) < tokens * 40 * A


@every_backend
def test_what_is_multiplied_has_no_gaps_between_its_rows(monkeypatch: pytest.MonkeyPatch):
    """Otherwise oneDNN takes a hundred times as long."""
    shapes = []
    linear = Products.linear

    def checked(x: Tensor, weight: Tensor, *bias: Tensor) -> Tensor:
        for matrix in (x, weight):
            shapes.append(tuple(matrix.shape))
            assert matrix.is_contiguous() or matrix.t().is_contiguous(), shapes[-1]
        return linear(x, weight, *bias)

    monkeypatch.setattr(Products, "linear", staticmethod(checked))
    values_and_gradients(make(), batch(*BATCHES[0]), "hidden")
    assert {(3 * H, P + Q), (3 * H + A, H)} <= set(shapes)


@pytest.mark.skipif(not CAN_RECORD, reason="this torch cannot export loops")
def test_exported_for_any_length():
    model = make(bidirectional=False).eval()
    sizes = [torch.export.Dim(name) for name in ("batch_size", "num_tokens", "num_words")]
    passage, question = ({0: sizes[0], 1: size} for size in sizes[1:])
    with torch.no_grad():
        program = torch.export.export(
            model,
            batch(*BATCHES[0]),
            dynamic_shapes=(passage, passage, question, question),
        ).module()
        for case in BATCHES:
            pairs = batch(*case)
            torch.testing.assert_close(program(*pairs), model(*pairs), rtol=0, atol=1e-9)
