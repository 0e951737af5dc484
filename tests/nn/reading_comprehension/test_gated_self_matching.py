"""Gated self-matching against equations 7 and 8 of Wang et al. (2017), one token at a time."""

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn.rnet import GatedSelfMatching
from tests.fresh_process import run_python
from tests.nn.reading_comprehension.equations import assert_same, batch, gru_step, normal, softmax

D, H, A = 3, 4, 5
LENGTHS = [5, 1, 3, 0, 2]


def make() -> GatedSelfMatching:
    torch.manual_seed(0)
    return normal(GatedSelfMatching(D, H, A))


def passages() -> tuple[Tensor, Tensor]:
    return batch(LENGTHS, 6, D, seed=1)


def match_as_in_the_paper(
    model: GatedSelfMatching, passage: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """h^P and a for each token of a passage (T, D)."""
    inputs, attention = [], []
    for v_t in passage:
        s = [
            model.attention_vector
            @ torch.tanh(model.attention_key @ v_j + model.attention_query @ v_t)
            for v_j in passage
        ]  # (8)
        a = softmax(s)
        c = sum(weight * v_j for weight, v_j in zip(a, passage))
        both = torch.cat([v_t, c])
        inputs.append(torch.sigmoid(model.gate @ both) * both)
        attention.append(a)
    directions = []
    for suffix, steps in (("", inputs), ("_reverse", inputs[::-1])):
        weights = [
            getattr(model.gru, f"{kind}_l0{suffix}")
            for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        ]
        h, states = torch.zeros(H, dtype=torch.float64), []
        for x in steps:
            h = gru_step(x, h, *weights)  # (7)
            states.append(h)
        directions.append(states)
    forward, reverse = directions[0], directions[1][::-1]
    return [torch.cat(pair) for pair in zip(forward, reverse)], attention


def test_equations():
    model = make()
    inputs, mask = passages()
    outputs, attention = model(inputs, mask)
    assert outputs.shape == (5, 6, model.output_size) == (5, 6, 2 * H)
    for row, T in enumerate(LENGTHS):
        states, weights = match_as_in_the_paper(model, inputs[row, :T])
        for t in range(T):
            assert_same(outputs[row, t], states[t])
            assert_same(attention[row, t, :T], weights[t])
        assert not outputs[row, T:].any()
        assert not attention[row, T:].any()
        assert not attention[row, :, T:].any()


def test_gradcheck():
    torch.manual_seed(0)
    model = normal(GatedSelfMatching(2, 2, 2))
    inputs, mask = batch([1, 3, 0], 4, 2, seed=1)
    inputs.requires_grad_()

    def match(*_: Tensor) -> tuple[Tensor, Tensor]:  # gradcheck changes them in place
        return model(inputs, mask)

    assert torch.autograd.gradcheck(match, (inputs, *model.parameters()))


def test_a_passage_is_matched_alike_in_any_batch():
    model = make()
    inputs, mask = passages()
    outputs, attention = model(inputs, mask)
    for row, T in enumerate(LENGTHS):
        alone, own = model(inputs[row : row + 1, :T], mask[row : row + 1, :T])
        assert_same(outputs[row, :T], alone[0])
        assert_same(attention[row, :T, :T], own[0])


def test_wrong_inputs_are_named():
    model, (inputs, mask) = make(), passages()
    with pytest.raises(ValueError, match="mask must be right-padded"):
        model(inputs, mask.flip(1))
    with pytest.raises(TypeError, match="mask must be bool"):
        model(inputs, mask.long())
    with pytest.raises(ValueError, match="passage must have the shape"):
        model(inputs[..., 1:], mask)
    with pytest.raises(TypeError, match="passage must have the type"):
        model(inputs.float(), mask)


MEMORY = """
import resource, torch
from allennlp_sentmatch.nn.rnet import GatedSelfMatching

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

layer = GatedSelfMatching(150, 75)
passages, mask = torch.randn(8, 800, 150), torch.ones(8, 800, dtype=torch.bool)
with torch.no_grad():
    layer(passages[:, :8], mask[:, :8])
    before = peak()
    layer(passages, mask)
print(peak() - before)
"""


def test_memory_grows_with_the_attention_not_with_its_hidden_layer():
    """The hidden layer of 75 numbers a pair would take 1.5 GB, all freed at once or not."""
    process = run_python(MEMORY)
    assert process.returncode == 0, process.stderr
    assert int(process.stdout) < 10 * 4 * 8 * 800 * 800  # the attention, masks and their copies
