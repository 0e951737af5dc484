"""Properties that all readers of pairs have."""

from functools import partial

import pytest
import torch

from allennlp_sentmatch.nn import LSTMNInterAttention, LSTMNPair, LSTMPair, PairReader
from tests.nn.pairs import (
    HYPOTHESIS_LENGTHS,
    PREMISE_LENGTHS,
    D,
    H,
    assert_same,
    by_both_backends,
    pairs,
)

READERS = {
    "lstm": LSTMPair,
    "lstmn": LSTMNPair,
    "inter_attention": LSTMNInterAttention,
    "inter_attention_started": partial(LSTMNInterAttention, start_from_premise=True),
}
SIZES = ["input_size", "hidden_size", "attention_size"]

all_readers = pytest.mark.parametrize("name", READERS)


def make(name: str, input_size: int = D, hidden_size: int = H) -> PairReader:
    torch.manual_seed(0)
    model = READERS[name](input_size, hidden_size).double()
    for parameter in model.parameters():  # large enough for the attention to be far from even
        torch.nn.init.normal_(parameter)
    return model


@by_both_backends
@all_readers
def test_gradcheck(name: str):
    model = make(name, 2, 2)
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
@all_readers
@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 1e30])
def test_padding_does_not_matter(name: str, garbage: float):
    model = make(name)
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
        assert not inputs.grad[~mask].any()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), parameter_name
        assert parameter.grad.any(), parameter_name


@by_both_backends
@all_readers
def test_a_pair_is_encoded_alike_in_any_batch(name: str):
    model = make(name)
    outputs = model(*pairs())
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        premise, premise_mask, hypothesis, hypothesis_mask = (x[row : row + 1] for x in pairs())
        alone = model(
            premise[:, :M], premise_mask[:, :M], hypothesis[:, :N], hypothesis_mask[:, :N]
        )
        assert_same(outputs[row], alone[0])


@all_readers
def test_without_a_mask_nothing_is_padding(name: str):
    model = make(name)
    premises, _, hypotheses, hypothesis_mask = pairs()
    premise_mask = torch.ones(premises.shape[:2], dtype=torch.bool)
    with_masks = model(premises, premise_mask, hypotheses, hypothesis_mask)
    assert torch.equal(model(premises, None, hypotheses, hypothesis_mask), with_masks)
    unpadded = model(premises, None, hypotheses, None)
    for row, N in enumerate(HYPOTHESIS_LENGTHS):
        is_same = torch.allclose(unpadded[row], with_masks[row], atol=1e-9)
        assert is_same == (hypotheses.size(1) == N)


@all_readers
def test_bfloat16_autocast(name: str):
    model = make(name).float()
    arguments = [x.float() if x.is_floating_point() else x for x in pairs()]
    expected = model(*arguments)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = model(*arguments)
    assert outputs.dtype == torch.float32
    torch.testing.assert_close(outputs, expected, atol=0.1, rtol=0)


@all_readers
@pytest.mark.parametrize("wrong", [1, 3], ids=["premise_mask", "hypothesis_mask"])
def test_masks_are_checked(name: str, wrong: int):
    tensors = pairs()
    tensors[wrong] = ~tensors[wrong]
    with pytest.raises(ValueError, match="mask must be right-padded"):
        make(name)(*tensors)


@all_readers
@pytest.mark.parametrize("setting", SIZES)
def test_sizes_must_be_positive(name: str, setting: str):
    if name == "lstm" and setting == "attention_size":
        pytest.skip("two LSTMs have no attention")
    sizes = {"input_size": 2, "hidden_size": 2, setting: 0}
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        READERS[name](**sizes)
    assert READERS[name](2, 5).output_size == 5
