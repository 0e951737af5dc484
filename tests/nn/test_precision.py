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


def test_products_are_those_of_bfloat16_or_of_float32():
    torch.manual_seed(0)
    x, y = torch.randn(64, 96), torch.randn(96, 64)
    with bfloat16_products():
        product = x @ y
    assert product.dtype == torch.float32
    # Each of 96 terms is off by at most 2^-8 or so, of |x| |y|.
    assert ((product - x @ y).abs() <= 2**-7 * (x.abs() @ y.abs())).all()
