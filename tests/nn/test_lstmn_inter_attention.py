"""Inter-attention against equations 14-17 of the report, one pair and one token at a time."""

from collections.abc import Iterator

import pytest
import torch

from allennlp_sentmatch.nn.lstmn_inter_attention import LSTMNInterAttention
from allennlp_sentmatch.nn.ops.backends import use_backend
from tests.nn.test_lstmn import read_as_in_the_paper

D, H, A = 3, 4, 5
PREMISE_LENGTHS = (5, 1, 3, 0, 2, 4)
HYPOTHESIS_LENGTHS = (2, 4, 1, 3, 0, 4)

Pairs = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


def pairs() -> Pairs:
    generator = torch.Generator().manual_seed(1)

    def batch(lengths: tuple[int, ...], num_tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
        inputs = torch.randn(6, num_tokens, D, dtype=torch.float64, generator=generator)
        return inputs, torch.arange(num_tokens) < torch.tensor(lengths).unsqueeze(1)

    return (*batch(PREMISE_LENGTHS, 6), *batch(HYPOTHESIS_LENGTHS, 4))


def make(start_from_premise: bool = False) -> LSTMNInterAttention:
    torch.manual_seed(0)
    model = LSTMNInterAttention(D, H, A, start_from_premise).double()
    for parameter in model.parameters():  # large enough for the attention to be far from even
        torch.nn.init.normal_(parameter)
    return model


@pytest.fixture(params=[None, "naive"], ids=["default", "naive"])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with use_backend(request.param):
        yield


by_both_backends = pytest.mark.usefixtures("backend")
started_or_not = pytest.mark.parametrize("start_from_premise", [False, True])


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=1e-9)


@by_both_backends
@started_or_not
def test_equations(start_from_premise: bool):
    model = make(start_from_premise)
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        Y, cells, own = read_as_in_the_paper(model.premise_reader, premises[row, :M])
        start = (Y[-1], cells[-1]) if start_from_premise and M else None
        hypothesis, _, own_of_hypothesis = read_as_in_the_paper(
            model.hypothesis_reader, hypotheses[row, :N], start=start
        )
        h_N = hypothesis[-1] if N else zero
        r = zero
        if M:
            s = torch.stack(
                [
                    model.attention_vector
                    @ torch.tanh(model.attention_premise @ y + model.attention_hypothesis @ h_N)
                    for y in Y
                ]
            )  # (14)
            alpha = s.exp() / s.exp().sum()  # (15)
            r = sum(a * y for a, y in zip(alpha, Y))  # (16)
            assert_same(attention.inter[row, :M], alpha)
        assert not attention.inter[row, M:].any()
        h_star = torch.tanh(model.output_premise @ r + model.output_hypothesis @ h_N)  # (17)
        assert_same(outputs[row], h_star)
        for t in range(M):
            assert_same(attention.premise[row, t, :t], own[t])
        for t in range(N):
            assert_same(attention.hypothesis[row, t, :t], own_of_hypothesis[t])


@by_both_backends
@started_or_not
def test_gradcheck(start_from_premise: bool):
    torch.manual_seed(0)
    model = LSTMNInterAttention(2, 2, 2, start_from_premise).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    premise_mask = torch.arange(4) < torch.tensor([[4], [1], [3], [0]])
    hypothesis_mask = torch.arange(3) < torch.tensor([[2], [3], [0], [3]])
    variables = tuple(
        torch.randn(*mask.shape, 2, dtype=torch.float64, requires_grad=True)
        for mask in (premise_mask, hypothesis_mask)
    )

    def encode(*_: torch.Tensor) -> torch.Tensor:  # gradcheck changes them in place
        return model(variables[0], premise_mask, variables[1], hypothesis_mask)

    assert torch.autograd.gradcheck(encode, (*variables, *model.parameters()))


@by_both_backends
@started_or_not
@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 1e30])
def test_padding_does_not_matter(garbage: float, start_from_premise: bool):
    model = make(start_from_premise)
    premises, premise_mask, hypotheses, hypothesis_mask = pairs()
    spoiled = [
        inputs.masked_fill(~mask.unsqueeze(-1), garbage).requires_grad_()
        for inputs, mask in ((premises, premise_mask), (hypotheses, hypothesis_mask))
    ]
    outputs = model(spoiled[0], premise_mask, spoiled[1], hypothesis_mask)
    assert torch.equal(outputs, model(*pairs()))
    outputs.square().sum().backward()
    for inputs, mask in zip(spoiled, (premise_mask, hypothesis_mask)):
        assert not inputs.grad[~mask].any()
        assert inputs.grad[mask].any()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


@by_both_backends
@started_or_not
def test_a_pair_is_encoded_alike_in_any_batch(start_from_premise: bool):
    model = make(start_from_premise)
    outputs = model(*pairs())
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        premise, premise_mask, hypothesis, hypothesis_mask = (x[row : row + 1] for x in pairs())
        alone = model(
            premise[:, :M], premise_mask[:, :M], hypothesis[:, :N], hypothesis_mask[:, :N]
        )
        assert_same(outputs[row], alone[0])


@by_both_backends
def test_empty_sentences_make_a_zero_vector():
    empty = torch.full((2, 3, D), float("nan")).double(), torch.zeros(2, 3, dtype=torch.bool)
    outputs, attention = make(True)(*empty, *empty, return_attention=True)
    assert not outputs.any()
    assert not attention.inter.any()


@started_or_not
def test_bfloat16_autocast(start_from_premise: bool):
    model = make(start_from_premise).float()
    arguments = [x.float() if x.is_floating_point() else x for x in pairs()]
    expected = model(*arguments)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = model(*arguments)
    assert outputs.dtype == torch.float32
    torch.testing.assert_close(outputs, expected, atol=0.1, rtol=0)


def test_the_parameters_are_laid_out_as_documented():
    shapes = {name: tuple(p.shape) for name, p in make().named_parameters()}
    readers = {name: shape for name, shape in shapes.items() if "_reader." in name}
    assert {name: shape for name, shape in shapes.items() if name not in readers} == {
        "attention_premise": (A, H),
        "attention_hypothesis": (A, H),
        "attention_vector": (A,),
        "output_premise": (H, H),
        "output_hypothesis": (H, H),
    }
    assert readers["premise_reader.weight_ih_l0"] == (4 * H, D)
    assert readers["hypothesis_reader.attention_hidden"] == (A, H)
    assert LSTMNInterAttention(D, H).attention_vector.shape == (H,)


@pytest.mark.parametrize("setting", ["input_size", "hidden_size", "attention_size"])
def test_sizes_must_be_positive(setting: str):
    sizes = {"input_size": 2, "hidden_size": 2, "attention_size": 2, setting: 0}
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        LSTMNInterAttention(**sizes)
