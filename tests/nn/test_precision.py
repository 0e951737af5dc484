"""The precision of products is restored after its context."""

import pytest
import torch

from allennlp_sentmatch.nn.precision import bfloat16_products


def test_the_precision_is_restored_after_an_error():
    before = torch.get_float32_matmul_precision()
    with bfloat16_products():
        assert torch.get_float32_matmul_precision() == "medium"
    with pytest.raises(KeyError), bfloat16_products():
        raise KeyError
    assert torch.get_float32_matmul_precision() == before
