"""Padded batches: the check of an encoder's arguments, and two batches joined into one."""

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

from allennlp_sentmatch.nn import stack_padded
from allennlp_sentmatch.nn.ops.common.packing import order_by_length
from allennlp_sentmatch.nn.padding import check_padded

MASK = torch.tensor([[True, True, False], [True, False, False], [False, False, False]])


@pytest.mark.parametrize(("first_length", "second_length"), [(2, 4), (4, 2), (3, 3), (0, 2)])
def test_first_batch_first_and_padded_on_the_right(first_length, second_length):
    first = torch.randn(2, first_length, 3), torch.ones(2, first_length, dtype=torch.bool)
    second = torch.randn(1, second_length, 3), torch.ones(1, second_length, dtype=torch.bool)
    inputs, mask = stack_padded(first, second)
    length = max(first_length, second_length)
    assert inputs.shape == (3, length, 3)
    assert mask.dtype == torch.bool
    assert mask.sum(dim=1).tolist() == [first_length, first_length, second_length]
    assert torch.equal(inputs[:2, :first_length], first[0])
    assert torch.equal(inputs[2:, :second_length], second[0])
    assert not inputs[~mask].any()


def test_right_padded_batches_pass():
    for mask in (MASK, MASK[:, :0], MASK[:0], MASK[:, :1], torch.ones_like(MASK)):
        inputs = torch.randn(*mask.shape, 4)
        assert [*map(id, check_padded(inputs, mask, 4, torch.float32))] == [id(inputs), id(mask)]


@pytest.mark.parametrize("row", [[False, True, True], [True, False, True], [False, False, True]])
def test_a_mask_with_a_token_after_padding(row):
    mask = torch.cat([MASK, torch.tensor([row])])
    token = max(t for t in (1, 2) if row[t] and not row[t - 1])
    with pytest.raises(ValueError, match=f"right-padded, but token {token} of sentence 3 follows"):
        check_padded(torch.randn(4, 3, 2), mask, 2, torch.float32)
    with pytest.raises(ValueError, match=f"right-padded, but token {token} of sentence 3 follows"):
        order_by_length(mask)


def test_autocast_converts_inputs_but_not_float64():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for given, dtype in ((torch.bfloat16, torch.float32), (torch.float32, torch.float64)):
            inputs, _ = check_padded(torch.zeros(3, 3, 2, dtype=given), MASK, 2, dtype)
            assert inputs.dtype == dtype
        with pytest.raises(TypeError, match=r"got torch.float64"):
            check_padded(torch.zeros(3, 3, 2).double(), MASK, 2, torch.float32)


def test_the_mask_is_not_read_where_that_would_wait():
    mask = torch.ones(3, 3, dtype=torch.bool, device="meta")  # their values cannot be read
    check_padded(torch.zeros(3, 3, 2, device="meta"), mask, 2, torch.float32)


INPUTS = torch.zeros(3, 3, 2)


@pytest.mark.parametrize(
    ("inputs", "mask", "error", "message"),
    [
        (INPUTS, MASK.long(), TypeError, r"names must be bool, .* torch.int64; .*names.bool\(\)"),
        (pack_sequence([*INPUTS]), MASK, TypeError, "name must be .* tensor, got a PackedSeq"),
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
def test_wrong_arguments_are_named(inputs, mask, error, message):
    for names in (("inputs", "mask"), ("passage", "passage_mask")):
        expected = message.replace("names", names[1]).replace("name", names[0])
        with pytest.raises(error, match=expected):
            check_padded(inputs, mask, 2, torch.float32, names)
