"""Products of integers, which are exact on every processor and in every batch."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.common.int8_products import HAS_INT8, LARGEST, LEVELS, Int8Matrix

pytestmark = pytest.mark.skipif(not HAS_INT8, reason="this torch has no products of 8 bits")


def random_integers(*size, largest):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(-largest, largest + 1, size, generator=generator)


@pytest.mark.parametrize("size", [(3, 5), (1536, 384)])
@pytest.mark.parametrize("is_largest", [False, True])
def test_products_are_sums_of_integers(size, is_largest):
    """This also holds for the largest numbers, where sums of two products exceed 16 bits."""
    integers = random_integers(*size, largest=LARGEST)
    levels = random_integers(33, size[1], largest=LEVELS)
    if is_largest:
        integers.fill_(LARGEST)
        levels.fill_(LEVELS)
    integers[:, 0] = LARGEST  # so that the scale is a power of two
    matrix = Int8Matrix(integers * 0.25)
    expected = levels.double() @ integers.double().t() * 0.25
    for rows in (1, 2, 8, 33):
        found = matrix.product(levels[:rows].float()).double()
        torch.testing.assert_close(found, expected[:rows], rtol=1e-6, atol=0)


def test_a_row_does_not_depend_on_the_others():
    x = torch.randn(33, 20, generator=torch.Generator().manual_seed(0))
    matrix = Int8Matrix(torch.randn(7, 20, generator=torch.Generator().manual_seed(1)))
    for name in ("product_of_rows", "fine_product_of_rows"):
        product = getattr(matrix, name)
        together = product(x)
        for rows in (slice(0, 1), slice(3, 5), slice(9, 30)):
            assert torch.equal(product(x[rows]), together[rows])


def test_what_rounding_costs():
    """Half a step for each number, of 63 to the largest, or of 7,938."""
    x = torch.rand(50, 20, generator=torch.Generator().manual_seed(0)) * 2 - 1
    integers = random_integers(7, 20, largest=LARGEST)
    integers[:, 0] = LARGEST
    weights = integers / 128
    matrix = Int8Matrix(weights)  # without rounding
    exact = x.double() @ weights.double().t()
    largest = weights.abs().sum(1).double()  # of a product, if each number is off by one
    for product, steps in (
        (matrix.product_of_fractions, LEVELS),
        (matrix.product_of_rows, LEVELS),
        (matrix.fine_product_of_rows, LEVELS * 2 * LEVELS),
    ):
        error = (product(x) - exact).abs()
        assert (error <= largest * 0.5 / steps + 1e-5).all()
        assert error.max() > 0


def test_rows_of_zeros_are_zeros():
    matrix = Int8Matrix(torch.zeros(3, 4))
    assert not matrix.product_of_rows(torch.ones(2, 4)).any()
    assert not Int8Matrix(torch.ones(3, 4)).fine_product_of_rows(torch.zeros(2, 4)).any()
