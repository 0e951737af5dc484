"""Each pooling against its definition, and attentive pooling against dos Santos et al. (2016)."""

import pytest
import torch

from allennlp_sentmatch.nn import AttentivePooling, Pooling
from tests.nn.equations import additive_attention, assert_same, batch, softmax

LENGTHS = [4, 1, 0, 3]
INPUTS, MASK = batch(LENGTHS, 5, 6, seed=0)


def attention(module, steps):
    """Return the weighted sum of the steps, and the weights."""
    keys = [module.attention_projection(h) for h in steps]
    return additive_attention(module.attention_vector, keys, steps)


def pooled_by_definition(pooling, module, steps):
    """Return the vector of a sentence (T, D)."""
    if pooling == "max":
        return torch.stack([column.max() for column in steps.T])
    if pooling == "min":
        return torch.stack([column.min() for column in steps.T])
    if pooling == "mean":
        return sum(steps) / len(steps)
    if pooling == "last":
        return steps[-1]
    expected, _ = attention(module, steps)
    return expected


@pytest.mark.parametrize("pooling", ["max", "min", "mean", "last", "attention"])
def test_follows_its_definition(pooling):
    module = Pooling(6, pooling).double()
    pooled = module(INPUTS, MASK)
    assert pooled.shape == (4, 6)
    for sentence, length in enumerate(LENGTHS):
        expected = torch.zeros(6, dtype=torch.float64)
        if length:
            steps = INPUTS[sentence, :length]
            expected = pooled_by_definition(pooling, module, steps)
        assert_same(pooled[sentence], expected)


def test_last_takes_each_direction_where_it_ends():
    pooled = Pooling(6, "last", bidirectional=True)(INPUTS, MASK)
    for sentence, length in enumerate(LENGTHS):
        if length:
            forward = INPUTS[sentence, length - 1, :3]
            backward = INPUTS[sentence, 0, 3:]
            assert torch.equal(pooled[sentence], torch.cat([forward, backward]))
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
        best_of_first = G.max(dim=1).values
        best_of_second = G.max(dim=0).values
        check_side(Q, best_of_first, result.first[pair], result.first_attention[pair])
        check_side(A, best_of_second, result.second[pair], result.second_attention[pair])


def check_side(vectors, best, pooled, attention):
    """The best scores of a sentence's vectors (T, D) are its attention, and weight its vector."""
    sigma = softmax(list(best))
    expected = sum(weight * vector for weight, vector in zip(sigma, vectors))
    assert_same(pooled, expected)
    assert_same(attention[: len(sigma)], sigma)
    assert (attention[len(sigma) :] == 0).all()


@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize(("first_length", "second_length"), [(0, 4), (3, 0), (0, 0)])
def test_a_sentence_paired_with_an_empty_one_is_pooled_to_its_mean(
    first_length, second_length, padding
):
    first, first_mask = batch(
        [first_length] * 2,
        first_length + padding,
        5,
        seed=first_length,
    )
    second, second_mask = batch(
        [second_length] * 2,
        second_length + padding,
        5,
        seed=second_length,
    )
    result = AttentivePooling(5).double()(first, first_mask, second, second_mask)
    assert_same(result.first, mean_of(first[:, :first_length]))
    assert_same(result.second, mean_of(second[:, :second_length]))
    assert result.first_attention.shape == first.shape[:2]
    assert result.second_attention.shape == second.shape[:2]


def mean_of(inputs):
    """Return the means of the tokens (B, D), zero if there are none."""
    if inputs.size(1) == 0:
        return torch.zeros(2, 5, dtype=torch.float64)
    return inputs.mean(1)


@pytest.mark.parametrize(
    ("input_size", "settings", "message"),
    [
        (6, {"pooling": ["max", "sum"]}, r"pooling must be one of max, mean, .*; got 'sum'"),
        (6, {"pooling": []}, "pooling must name at least one"),
        (5, {"pooling": "last", "bidirectional": True}, "input_size must be even .* 'last'.* 5"),
    ],
)
def test_impossible_settings_are_named(input_size, settings, message):
    with pytest.raises(ValueError, match=message):
        Pooling(input_size, **settings)


def test_weights_of_other_poolings_are_refused():
    with pytest.raises(ValueError, match="needs the pooling 'attention'"):
        Pooling(6)(INPUTS, MASK, return_attention=True)
