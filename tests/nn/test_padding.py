"""Padded batches: the check of an encoder's arguments, and two batches joined into one."""

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

from allennlp_sentmatch.nn import stack_padded
from allennlp_sentmatch.nn.ops.common.packing import order_by_length
from allennlp_sentmatch.nn.padding import check_padded

MASK = torch.tensor([[True, True, False], [True, False, False], [False, False, False]])


def random_batch(num_sentences, length):
    """Return inputs without padding, and their mask."""
    inputs = torch.randn(num_sentences, length, 3)
    return inputs, torch.ones(num_sentences, length, dtype=torch.bool)


@pytest.mark.parametrize(("first_length", "second_length"), [(2, 4), (4, 2), (3, 3), (0, 2)])
def test_first_batch_first_and_padded_on_the_right(first_length, second_length):
    first = random_batch(2, first_length)
    second = random_batch(1, second_length)
    inputs, mask = stack_padded(first, second)
    assert inputs.shape == (3, max(first_length, second_length), 3)
    assert mask.dtype == torch.bool
    assert mask.sum(dim=1).tolist() == [first_length, first_length, second_length]
    assert torch.equal(inputs[:2, :first_length], first[0])
    assert torch.equal(inputs[2:, :second_length], second[0])
    assert not inputs[~mask].any()


@pytest.mark.parametrize(
    "mask",
    [
        MASK,
        MASK[:, :0],
        MASK[:0],
        MASK[:, :1],
        torch.ones_like(MASK),
    ],
)
def test_right_padded_batches_pass(mask):
    inputs = torch.randn(*mask.shape, 4)
    checked_inputs, checked_mask = check_padded(inputs, mask, 4, torch.float32)
    assert checked_inputs is inputs
    assert checked_mask is mask


@pytest.mark.parametrize(
    ("row", "token"),
    [
        ([False, True, True], 1),
        ([True, False, True], 2),
        ([False, False, True], 2),
    ],
)
def test_a_mask_with_a_token_after_padding(row, token):
    mask = torch.cat([MASK, torch.tensor([row])])
    message = f"right-padded, but token {token} of sentence 3 follows"
    with pytest.raises(ValueError, match=message):
        check_padded(torch.randn(4, 3, 2), mask, 2, torch.float32)
    with pytest.raises(ValueError, match=message):
        order_by_length(mask)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float64),
    ],
)
def test_autocast_converts_inputs(given, dtype):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inputs, _ = check_padded(torch.zeros(3, 3, 2, dtype=given), MASK, 2, dtype)
    assert inputs.dtype == dtype


def test_autocast_does_not_convert_float64():
    inputs = torch.zeros(3, 3, 2, dtype=torch.float64)
    autocast = torch.autocast("cpu", dtype=torch.bfloat16)
    with autocast, pytest.raises(TypeError, match=r"got torch.float64"):
        check_padded(inputs, MASK, 2, torch.float32)


def test_the_mask_is_not_read_where_that_would_wait():
    mask = torch.ones(3, 3, dtype=torch.bool, device="meta")  # their values cannot be read
    check_padded(torch.zeros(3, 3, 2, device="meta"), mask, 2, torch.float32)


INPUTS = torch.zeros(3, 3, 2)


PACKED = pack_sequence(list(INPUTS))


@pytest.mark.parametrize(
    ("inputs", "mask", "error", "message"),
    [
        (INPUTS, MASK.long(), TypeError, r"names must be bool, .* torch.int64; .*names.bool\(\)"),
        (PACKED, MASK, TypeError, "name must be .* tensor, got a PackedSeq"),
        (INPUTS, MASK.tolist(), TypeError, "names must be a padded tensor, got a list"),
        (INPUTS.long(), MASK, TypeError, r"name must be floating .*int64; .* name.to\(torch.float"),
        (INPUTS.double(), MASK, TypeError, r"float32, got torch.float64; call name.to\(.*float32"),
        (INPUTS.half(), MASK, TypeError, r"or encoder.to\(torch.float16\)"),
        (INPUTS[0], None, ValueError, r"name must have the shape \(.*, 2\), got \(3, 2\)"),
        (INPUTS[..., 1:], None, ValueError, r"name must have the shape \(.*, 2\), got \(3, 3, 1\)"),
        (INPUTS, MASK[:, 1:], ValueError, r"names must have .* name, \(3, 3\), got \(3, 2\)"),
        (INPUTS, MASK[0], ValueError, r"names must have .* name, \(3, 3\), got \(3,\)"),
    ],
)
@pytest.mark.parametrize(
    "names",
    [
        ("inputs", "mask"),
        ("passage", "passage_mask"),
    ],
)
def test_wrong_arguments_are_named(inputs, mask, error, message, names):
    name_of_inputs, name_of_mask = names
    expected = message.replace("names", name_of_mask).replace("name", name_of_inputs)
    with pytest.raises(error, match=expected):
        check_padded(inputs, mask, 2, torch.float32, names)
