"""Each pooling against its definition, one sentence at a time."""

import pytest
import torch

from allennlp_sentmatch.nn import Pooling

LENGTHS = [4, 1, 0, 3]


@pytest.fixture
def batch():
    torch.manual_seed(0)
    inputs = torch.randn(4, 5, 6, dtype=torch.float64)
    return inputs, torch.arange(5) < torch.tensor(LENGTHS).unsqueeze(1)


def attention_weights(module, steps):
    scores = []
    for h in steps:
        projected = module.attention_projection.weight @ h + module.attention_projection.bias
        scores.append(module.attention_vector @ torch.tanh(projected))
    exponentials = torch.stack(scores).exp()
    return exponentials / exponentials.sum()


DEFINITIONS = {
    "max": lambda module, steps: torch.stack([column.max() for column in steps.T]),
    "min": lambda module, steps: torch.stack([column.min() for column in steps.T]),
    "mean": lambda module, steps: sum(steps) / len(steps),
    "last": lambda module, steps: steps[-1],
    "attention": lambda module, steps: sum(
        weight * h for weight, h in zip(attention_weights(module, steps), steps)
    ),
}


@pytest.mark.parametrize("pooling", DEFINITIONS)
def test_follows_its_definition(pooling, batch):
    inputs, mask = batch
    module = Pooling(6, pooling).double()
    pooled = module(inputs, mask)
    assert pooled.shape == (4, 6)
    for sentence, length in enumerate(LENGTHS):
        expected = torch.zeros(6, dtype=torch.float64)
        if length:
            expected = DEFINITIONS[pooling](module, inputs[sentence, :length])
        torch.testing.assert_close(pooled[sentence], expected, rtol=0, atol=1e-9)


def test_last_takes_each_direction_where_it_ends(batch):
    inputs, mask = batch
    pooled = Pooling(6, "last", bidirectional=True)(inputs, mask)
    for sentence, length in enumerate(LENGTHS):
        if length:
            expected = [*inputs[sentence, length - 1, :3], *inputs[sentence, 0, 3:]]
            assert pooled[sentence].tolist() == [value.item() for value in expected]
    assert pooled[2].tolist() == [0.0] * 6


def test_concatenates_in_the_order_given(batch):
    inputs, mask = batch
    names = ["mean", "attention", "max"]
    module = Pooling(6, names).double()
    assert module.output_size == 18
    for name, part in zip(names, module(inputs, mask).split(6, -1)):
        alone = Pooling(6, name).double()
        alone.load_state_dict(module.state_dict() if name == "attention" else {})
        torch.testing.assert_close(part, alone(inputs, mask), rtol=0, atol=1e-12)


def test_attention_weights_on_request(batch):
    inputs, mask = batch
    module = Pooling(6, ["max", "attention"]).double()
    pooled, weights = module(inputs, mask, return_attention=True)
    assert weights.shape == (4, 5)
    torch.testing.assert_close(pooled, module(inputs, mask), rtol=0, atol=0)
    for sentence, length in enumerate(LENGTHS):
        assert (weights[sentence, length:] == 0).all()
        if length:
            expected = attention_weights(module, inputs[sentence, :length])
            torch.testing.assert_close(weights[sentence, :length], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("pooling", DEFINITIONS)
def test_nothing_in_the_padding_matters(pooling, batch):
    inputs, mask = batch
    module = Pooling(6, pooling, bidirectional=True).double()
    clean = inputs.masked_fill(~mask.unsqueeze(-1), 0).requires_grad_()
    dirty = inputs.masked_fill(~mask.unsqueeze(-1), float("nan")).requires_grad_()
    outputs = []
    for each in (clean, dirty):
        module.zero_grad()
        output = module(each, mask)
        output.square().sum().backward()
        outputs.append((output, each.grad, *[p.grad for p in module.parameters()]))
    for clean_output, dirty_output in zip(*outputs):
        torch.testing.assert_close(dirty_output, clean_output, rtol=0, atol=0)
    assert (dirty.grad[~mask] == 0).all()


@pytest.mark.parametrize("pooling", DEFINITIONS)
def test_gradients(pooling, batch):
    inputs, mask = batch
    module = Pooling(6, pooling, bidirectional=True).double()

    def run(inputs, *_):  # gradcheck moves the parameters themselves
        return module(inputs, mask)

    assert torch.autograd.gradcheck(run, (inputs.requires_grad_(), *module.parameters()))


@pytest.mark.parametrize("pooling", DEFINITIONS)
def test_batch_without_any_step(pooling):
    module = Pooling(6, pooling)
    assert (
        module(torch.zeros(2, 0, 6), torch.zeros(2, 0, dtype=torch.bool)).tolist() == [[0] * 6] * 2
    )


def test_rejects_impossible_settings(batch):
    with pytest.raises(ValueError, match=r"pooling must be one of max, mean, .*; got 'sum'"):
        Pooling(6, ["max", "sum"])
    with pytest.raises(ValueError, match="pooling must name at least one"):
        Pooling(6, [])
    with pytest.raises(ValueError, match="input_size must be at least 1, got 0"):
        Pooling(0)
    with pytest.raises(ValueError, match=r"input_size must be even for the pooling 'last'.* 5"):
        Pooling(5, "last", bidirectional=True)
    with pytest.raises(ValueError, match="return_attention needs the pooling 'attention'"):
        Pooling(6, ["max", "mean"])(*batch, return_attention=True)


@pytest.mark.parametrize("pooling", DEFINITIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_autocast_narrows_nothing(pooling, dtype, batch):
    """The inputs alone may be narrow."""
    inputs, mask = batch
    inputs = inputs.to(dtype)
    module = Pooling(6, pooling)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        pooled = module(inputs, mask)
        of_no_steps = module(inputs[:, :0], mask[:, :0])
    assert pooled.dtype == of_no_steps.dtype == torch.float32
    torch.testing.assert_close(pooled, module(inputs.float(), mask), atol=1e-6, rtol=0)


def test_without_autocast_the_type_is_that_of_the_inputs(batch):
    inputs, mask = batch
    assert Pooling(6)(inputs.bfloat16(), mask).dtype == torch.bfloat16


@pytest.mark.parametrize("pooling", DEFINITIONS)
def test_wrong_inputs_are_named(pooling, batch):
    inputs, mask = batch
    module = Pooling(6, pooling).double()
    with pytest.raises(ValueError, match="right-padded, but token 1 of sentence 0 follows"):
        module(inputs, mask.flip(1))
    with pytest.raises(ValueError, match=r"inputs must have the shape .* 6"):
        module(inputs[..., 1:], mask)
    with pytest.raises(ValueError, match="mask must have the shape"):
        module(inputs, mask[:, 1:])
    with pytest.raises(TypeError, match="mask must be bool"):
        module(inputs, mask.long())
