"""Two LSTMNs without inter-attention against equations 8-13 of the report, token by token.

The tests of `LSTMNInterAttention`, which extends `LSTMNPair`, cover batches and autocast.
"""

from collections.abc import Iterator

import pytest
import torch

from allennlp_sentmatch.nn import LSTMNPair, use_backend
from tests.nn.test_lstmn import read_as_in_the_paper
from tests.nn.test_lstmn_inter_attention import (
    HYPOTHESIS_LENGTHS,
    PREMISE_LENGTHS,
    A,
    D,
    H,
    assert_same,
    pairs,
)


def make() -> LSTMNPair:
    torch.manual_seed(0)
    model = LSTMNPair(D, H, A).double()
    for parameter in model.parameters():  # large enough for the attention to be far from even
        torch.nn.init.normal_(parameter)
    return model


@pytest.fixture(params=[None, "naive"], ids=["default", "naive"])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with use_backend(request.param):
        yield


by_both_backends = pytest.mark.usefixtures("backend")


@by_both_backends
def test_the_second_lstmn_continues_where_the_first_one_ended():
    model = make()
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    assert attention.inter is None
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        hiddens, cells, own = read_as_in_the_paper(model.premise_reader, premises[row, :M])
        start = (hiddens[-1], cells[-1]) if M else (zero, zero)
        tape, _, own_of_hypothesis = read_as_in_the_paper(
            model.hypothesis_reader, hypotheses[row, :N], start=start
        )
        assert_same(outputs[row], tape[-1] if N else zero)
        for t in range(M):
            assert_same(attention.premise[row, t, :t], own[t])
        for t in range(N):
            assert_same(attention.hypothesis[row, t, :t], own_of_hypothesis[t])


@by_both_backends
def test_gradcheck():
    torch.manual_seed(0)
    model = LSTMNPair(2, 2).double()
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
@pytest.mark.parametrize("garbage", [float("nan"), 1e30])
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
        assert parameter.grad.any(), name


@pytest.mark.parametrize("setting", ["input_size", "hidden_size", "attention_size"])
def test_sizes_must_be_positive(setting: str):
    sizes = {"input_size": 2, "hidden_size": 2, "attention_size": 2, setting: 0}
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        LSTMNPair(**sizes)
    assert LSTMNPair(2, 5).output_size == 5
