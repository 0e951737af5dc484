import pytest
import torch

from allennlp_sentmatch.nn.precision import at_least_float32, bfloat16_products


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_half_precision_is_widened(given: torch.dtype, expected: torch.dtype):
    x = at_least_float32(torch.tensor([0.5, -3.0], dtype=given))
    assert x.dtype == expected
    assert x.tolist() == [0.5, -3.0]


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
