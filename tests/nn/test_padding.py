"""Two padded batches joined into one."""

import pytest
import torch

from allennlp_sentmatch.nn import stack_padded


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
