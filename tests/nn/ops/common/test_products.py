from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F

from allennlp_sentmatch.nn.ops.common.products import linear, product, product_over_rows, reordered


@pytest.mark.filterwarnings("ignore:TF32 acceleration")  # torch's own, of the switch
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize("onednn", [True, False])
def test_products_of_all_layouts(dtype, tolerance, onednn):
    """Rows, slices of rows and transposed matrices, against sums written out in float64."""
    switched_off = getattr(torch.backends.mkldnn, "flags", None)
    if not onednn and switched_off is None:
        pytest.skip("this torch cannot switch oneDNN off")
    torch.manual_seed(0)
    wide = torch.randn(5, 7, dtype=dtype)
    for x, weight in [
        (torch.randn(5, 3, dtype=dtype), torch.randn(4, 3, dtype=dtype)),
        (wide[:, 2:5], torch.randn(4, 3, dtype=dtype)),
        (torch.randn(3, 5, dtype=dtype).t(), torch.randn(3, 4, dtype=dtype).t()),
        (torch.randn(0, 3, dtype=dtype), torch.randn(4, 3, dtype=dtype)),
        (torch.randn(1, 3, dtype=dtype), torch.randn(4, 3, dtype=dtype)),
    ]:
        y, bias = torch.randn(len(x), 2, dtype=dtype), torch.randn(4, dtype=dtype)
        with nullcontext() if onednn else switched_off(enabled=False):
            of_rows, over_rows = product(x, weight), product_over_rows(x, y)
            of_reordered = product(x, reordered(weight))
            with_bias = product(x, weight, bias)
        products = (x.double().unsqueeze(1) * weight.double()).sum(-1)
        for actual, expected in [
            (of_rows, products),
            (of_reordered, products),
            (with_bias, products + bias.double()),
            (over_rows, (x.double().unsqueeze(2) * y.double().unsqueeze(1)).sum(0)),
        ]:
            assert actual.dtype == dtype
            torch.testing.assert_close(actual.double(), expected, rtol=0, atol=tolerance)


def test_each_map_is_torch_s_linear():
    torch.manual_seed(0)
    for S in (1, 2):
        for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
            x, weight, bias = (
                torch.randn(shape, dtype=dtype, requires_grad=True)
                for shape in ((S, 6, 3), (S, 4, 3), (S, 4))
            )
            actual = linear(x, weight, bias)
            expected = torch.stack([F.linear(x[s], weight[s], bias[s]) for s in range(S)])
            torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)
            upstream = torch.randn_like(expected)
            arguments = (x, weight, bias)
            for ours, theirs in zip(
                torch.autograd.grad(actual, arguments, upstream),
                torch.autograd.grad(expected, arguments, upstream),
            ):
                torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance)
