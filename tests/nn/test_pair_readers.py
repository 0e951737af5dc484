"""Readers of pairs against the report's equations and torch, one pair and one token at a time."""

from functools import partial

import pytest
import torch

from allennlp_sentmatch.nn import LSTMNInterAttention, LSTMNPair, LSTMPair, PairReader
from tests.nn.equations import additive_attention, assert_same, batch, normal
from tests.nn.test_lstmn import read_as_in_the_paper

D, H, A = 3, 4, 5  # input_size, hidden_size, attention_size
PREMISE_LENGTHS = [5, 1, 3, 0, 2, 4]
HYPOTHESIS_LENGTHS = [2, 4, 1, 3, 0, 4]
READERS = {
    "lstm": LSTMPair,
    "lstmn": partial(LSTMNPair, attention_size=A),
    "inter_attention": partial(LSTMNInterAttention, attention_size=A),
    "started": partial(LSTMNInterAttention, attention_size=A, start_from_premise=True),
}
all_readers = pytest.mark.parametrize("name", READERS)
by_both_backends = pytest.mark.usefixtures("both_backends")


def make(name: str, input_size: int = D, hidden_size: int = H) -> PairReader:
    torch.manual_seed(0)
    return normal(READERS[name](input_size, hidden_size))


def pairs() -> list[torch.Tensor]:
    """Premises (6, 6, D), their mask, hypotheses (6, 4, D) and their mask."""
    return [*batch(PREMISE_LENGTHS, 6, D, seed=1), *batch(HYPOTHESIS_LENGTHS, 4, D, seed=2)]


def by_torch(lstm, sentence, h, c):
    """h and c after the last token of a sentence (N, D)."""
    cell = torch.nn.LSTMCell(D, H).double()
    cell.load_state_dict({name[: -len("_l0")]: x for name, x in lstm.state_dict().items()})
    for x in sentence:
        h, c = cell(x, (h, c))
    return h, c


@by_both_backends
def test_the_second_lstm_continues_where_the_first_one_ended():
    model = make("lstm")
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    assert attention == (None, None, None)
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        last = by_torch(model.premise_reader, premises[row, :M], zero, zero)
        h_N, _ = by_torch(model.hypothesis_reader, hypotheses[row, :N], *last)
        assert_same(outputs[row], h_N if N else zero)


@by_both_backends
@pytest.mark.parametrize("name", ["lstmn", "inter_attention", "started"])
def test_equations_of_lstmns(name):
    model = make(name)
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        Y, cells, own = read_as_in_the_paper(model.premise_reader, premises[row, :M])
        start = (Y[-1], cells[-1]) if name != "inter_attention" and M else None
        hypothesis, _, own_of_hypothesis = read_as_in_the_paper(
            model.hypothesis_reader, hypotheses[row, :N], start=start
        )
        for t in range(M):
            assert_same(attention.premise[row, t, :t], own[t])
        for t in range(N):
            assert_same(attention.hypothesis[row, t, :t], own_of_hypothesis[t])
        h_N = hypothesis[-1] if N else zero
        if name == "lstmn":
            assert attention.inter is None
            assert_same(outputs[row], h_N)
            continue
        keys = [model.attention_premise @ y + model.attention_hypothesis @ h_N for y in Y]
        Y = torch.stack(Y) if M else zero.expand(0, H)
        r, alpha = additive_attention(model.attention_vector, keys, Y)  # (14)-(16)
        assert_same(attention.inter[row, :M], alpha)
        assert not attention.inter[row, M:].any()
        h_star = torch.tanh(model.output_premise @ r + model.output_hypothesis @ h_N)  # (17)
        assert_same(outputs[row], h_star)


def test_the_parameters_are_laid_out_as_documented():
    shapes = {name: tuple(p.shape) for name, p in make("inter_attention").named_parameters()}
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


@by_both_backends
@all_readers
def test_gradcheck(name: str):
    model = make(name, 2, 2)
    (premise, premise_mask), (hypothesis, hypothesis_mask) = (
        batch([4, 1, 3, 0], 4, 2, seed=1),
        batch([2, 3, 0, 3], 3, 2, seed=2),
    )
    variables = premise.requires_grad_(), hypothesis.requires_grad_()

    def encode(*_: torch.Tensor) -> torch.Tensor:  # gradcheck changes them in place
        return model(variables[0], premise_mask, variables[1], hypothesis_mask)

    assert torch.autograd.gradcheck(encode, (*variables, *model.parameters()))


@by_both_backends
@all_readers
@pytest.mark.parametrize("garbage", [float("nan"), 1e30])
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


@all_readers
def test_without_a_mask_nothing_is_padding(name: str):
    model = make(name)
    premises, _, hypotheses, _ = pairs()
    masks = [torch.ones(x.shape[:2], dtype=torch.bool) for x in (premises, hypotheses)]
    expected = model(premises, masks[0], hypotheses, masks[1])
    assert torch.equal(model(premises, None, hypotheses, None), expected)


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


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        (name, setting)
        for name in READERS
        for setting in ("input_size", "hidden_size", "attention_size")
        if (name, setting) != ("lstm", "attention_size")
    ],
)
def test_sizes_must_be_positive(name: str, setting: str):
    sizes = {"input_size": 2, "hidden_size": 2, setting: 0}
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        READERS[name](**sizes)
    assert READERS[name](2, 5).output_size == 5
