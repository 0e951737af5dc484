"""Two LSTMs against torch.nn.LSTMCell and the report's equations 1-6, one token at a time."""

from collections.abc import Iterator

import pytest
import torch

from allennlp_sentmatch.nn import LSTMPair, use_backend

D, H = 3, 4
PREMISE_LENGTHS = (5, 1, 3, 0, 2, 4)
HYPOTHESIS_LENGTHS = (2, 4, 1, 3, 0, 4)


def pairs() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    tensors = []
    for lengths, num_tokens in ((PREMISE_LENGTHS, 6), (HYPOTHESIS_LENGTHS, 4)):
        shape = (len(lengths), num_tokens, D)
        tensors.append(torch.randn(shape, dtype=torch.float64, generator=generator))
        tensors.append(torch.arange(num_tokens) < torch.tensor(lengths).unsqueeze(1))
    return tensors


def make() -> LSTMPair:
    torch.manual_seed(0)
    model = LSTMPair(D, H).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model


@pytest.fixture(params=[None, "naive"], ids=["default", "naive"])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with use_backend(request.param):
        yield


by_both_backends = pytest.mark.usefixtures("backend")


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=1e-9)


def by_torch(
    lstm: torch.nn.LSTM, sentence: torch.Tensor, h: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """h and c after the last token of a sentence (N, D)."""
    cell = torch.nn.LSTMCell(D, H).double()
    cell.load_state_dict({name[: -len("_l0")]: x for name, x in lstm.state_dict().items()})
    for x in sentence:
        h, c = cell(x, (h, c))
    return h, c


def by_equations(
    lstm: torch.nn.LSTM, sentence: torch.Tensor, h: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same by the report's equations, each W being of [h, x]."""
    W = torch.cat([lstm.weight_hh_l0, lstm.weight_ih_l0], 1).split(H)
    b = (lstm.bias_ih_l0 + lstm.bias_hh_l0).split(H)
    for x in sentence:
        h_and_x = torch.cat([h, x])
        i, f, C_hat, o = (weight @ h_and_x + bias for weight, bias in zip(W, b))
        c = f.sigmoid() * c + i.sigmoid() * C_hat.tanh()  # (1)-(4)
        h = o.sigmoid() * c.tanh()  # (5), (6)
    return h, c


@by_both_backends
@pytest.mark.parametrize("read", [by_torch, by_equations])
def test_the_second_lstm_continues_where_the_first_one_ended(read):
    model = make()
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    assert attention == (None, None, None)
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        last = read(model.premise_reader, premises[row, :M], zero, zero)
        h_N, _ = read(model.hypothesis_reader, hypotheses[row, :N], *last)
        assert_same(outputs[row], h_N if N else zero)


@by_both_backends
def test_gradcheck():
    torch.manual_seed(0)
    model = LSTMPair(2, 2).double()
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
@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 1e30])
def test_padding_does_not_matter(garbage: float):
    model = make()
    premises, premise_mask, hypotheses, hypothesis_mask = pairs()
    spoiled = [
        inputs.masked_fill(~mask.unsqueeze(-1), garbage).requires_grad_()
        for inputs, mask in ((premises, premise_mask), (hypotheses, hypothesis_mask))
    ]
    outputs = model(spoiled[0], premise_mask, spoiled[1], hypothesis_mask)
    assert torch.equal(outputs, model(*pairs()))
    outputs.square().sum().backward()
    has_hypothesis = hypothesis_mask.any(1, keepdim=True)  # (B, 1)
    for inputs, mask in zip(spoiled, (premise_mask, hypothesis_mask)):
        assert inputs.grad[mask & has_hypothesis].all()
        assert not inputs.grad[~(mask & has_hypothesis)].any()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


@by_both_backends
def test_a_pair_is_encoded_alike_in_any_batch():
    model = make()
    outputs = model(*pairs())
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        premise, premise_mask, hypothesis, hypothesis_mask = (x[row : row + 1] for x in pairs())
        alone = model(
            premise[:, :M], premise_mask[:, :M], hypothesis[:, :N], hypothesis_mask[:, :N]
        )
        assert_same(outputs[row], alone[0])


def test_bfloat16_autocast():
    model = make().float()
    arguments = [x.float() if x.is_floating_point() else x for x in pairs()]
    expected = model(*arguments)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = model(*arguments)
    assert outputs.dtype == torch.float32
    torch.testing.assert_close(outputs, expected, atol=0.1, rtol=0)


@pytest.mark.parametrize("wrong", [1, 3], ids=["premise_mask", "hypothesis_mask"])
def test_masks_are_checked(wrong: int):
    tensors = pairs()
    tensors[wrong] = ~tensors[wrong]
    with pytest.raises(ValueError, match="mask must be right-padded"):
        make()(*tensors)


@pytest.mark.parametrize("setting", ["input_size", "hidden_size"])
def test_sizes_must_be_positive(setting: str):
    sizes = {"input_size": 2, "hidden_size": 2, setting: 0}
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        LSTMPair(**sizes)
    assert LSTMPair(2, 5).output_size == 5
