"""Each pooling against its definition, and attentive pooling against dos Santos et al. (2016)."""

import pytest
import torch

from allennlp_sentmatch.nn import AttentivePooling, Pooling
from tests.nn.equations import additive_attention, assert_same, batch, softmax

LENGTHS = [4, 1, 0, 3]
INPUTS, MASK = batch(LENGTHS, 5, 6, seed=0)


def attention(module, steps):
    keys = [module.attention_projection(h) for h in steps]
    return additive_attention(module.attention_vector, keys, steps)


DEFINITIONS = {
    "max": lambda module, steps: torch.stack([column.max() for column in steps.T]),
    "min": lambda module, steps: torch.stack([column.min() for column in steps.T]),
    "mean": lambda module, steps: sum(steps) / len(steps),
    "last": lambda module, steps: steps[-1],
    "attention": lambda module, steps: attention(module, steps)[0],
}


@pytest.mark.parametrize("pooling", DEFINITIONS)
def test_follows_its_definition(pooling):
    module = Pooling(6, pooling).double()
    pooled = module(INPUTS, MASK)
    assert pooled.shape == (4, 6)
    for sentence, length in enumerate(LENGTHS):
        expected = torch.zeros(6, dtype=torch.float64)
        if length:
            expected = DEFINITIONS[pooling](module, INPUTS[sentence, :length])
        assert_same(pooled[sentence], expected)


def test_last_takes_each_direction_where_it_ends():
    pooled = Pooling(6, "last", bidirectional=True)(INPUTS, MASK)
    for sentence, length in enumerate(LENGTHS):
        if length:
            expected = [*INPUTS[sentence, length - 1, :3], *INPUTS[sentence, 0, 3:]]
            assert pooled[sentence].tolist() == [value.item() for value in expected]
    assert not pooled[2].any()


def test_concatenates_in_the_order_given():
    names = ["mean", "attention", "max"]
    module = Pooling(6, names).double()
    assert module.output_size == 18
    for name, part in zip(names, module(INPUTS, MASK).split(6, -1)):
        alone = Pooling(6, name).double()
        alone.load_state_dict(module.state_dict() if name == "attention" else {})
        assert_same(part, alone(INPUTS, MASK))


def test_attention_weights_on_request():
    module = Pooling(6, ["max", "attention"]).double()
    pooled, weights = module(INPUTS, MASK, return_attention=True)
    assert weights.shape == (4, 5)
    torch.testing.assert_close(pooled, module(INPUTS, MASK), rtol=0, atol=0)
    for sentence, length in enumerate(LENGTHS):
        assert (weights[sentence, length:] == 0).all()
        if length:
            _, expected = attention(module, INPUTS[sentence, :length])
            assert_same(weights[sentence, :length], expected)


def test_without_autocast_the_type_is_that_of_the_inputs():
    assert Pooling(6)(INPUTS.bfloat16(), MASK).dtype == torch.bfloat16


def test_a_mean_in_float16_whose_sum_has_no_float16():
    inputs = torch.full((1, 100, 1), 1000.0, dtype=torch.float16)
    mean = Pooling(1, "mean")(inputs)
    assert mean.dtype == torch.float16
    assert mean.item() == 1000


def test_equations_of_attentive_pooling():
    torch.manual_seed(0)  # some tokens score below zero against the whole other sentence
    pooling = AttentivePooling(5).double()
    first, first_mask = batch([4, 2, 1], 4, 5, seed=1)
    second, second_mask = batch([3, 6, 1], 6, 5, seed=2)
    result = pooling(first, first_mask, second, second_mask)
    for pair in range(3):
        Q = first[pair, first_mask[pair]]
        A = second[pair, second_mask[pair]]
        G = torch.stack([torch.stack([(q @ pooling.weight @ a).tanh() for a in A]) for q in Q])
        for vectors, best, pooled, attention in [
            (Q, G.max(dim=1).values, result.first, result.first_attention),
            (A, G.max(dim=0).values, result.second, result.second_attention),
        ]:
            sigma = softmax(list(best))
            expected = sum(weight * vector for weight, vector in zip(sigma, vectors))
            assert_same(pooled[pair], expected)
            assert_same(attention[pair, : len(sigma)], sigma)
            assert (attention[pair, len(sigma) :] == 0).all()


@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("lengths", [(0, 4), (3, 0), (0, 0)])
def test_a_sentence_paired_with_an_empty_one_is_pooled_to_its_mean(lengths, padding):
    texts = [batch([length] * 2, length + padding, 5, seed=length) for length in lengths]
    result = AttentivePooling(5).double()(*texts[0], *texts[1])
    results = (result.first, result.first_attention), (result.second, result.second_attention)
    for length, (inputs, _), (vectors, attention) in zip(lengths, texts, results):
        expected = inputs[:, :length].mean(1) if length else torch.zeros(2, 5).double()
        assert_same(vectors, expected)
        assert attention.shape == inputs.shape[:2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Pooling(6, ["max", "sum"]), r"pooling must be one of max, mean, .*; got 'sum'"),
        (lambda: Pooling(6, []), "pooling must name at least one"),
        (lambda: Pooling(5, "last", bidirectional=True), "input_size must be even .* 'last'.* 5"),
        (lambda: Pooling(6)(INPUTS, MASK, return_attention=True), "needs the pooling 'attention'"),
    ],
)
def test_impossible_settings_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
