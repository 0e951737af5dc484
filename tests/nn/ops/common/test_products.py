"""Products are torch's, for every layout and library."""

import pytest
import torch
import torch.nn.functional as F

from allennlp_sentmatch.nn.ops.backends import resolve
from allennlp_sentmatch.nn.ops.common import products as products_module
from allennlp_sentmatch.nn.ops.common.products import (
    HAS_ONEDNN,
    MKLProducts,
    OneDNNProducts,
    Products,
)
from allennlp_sentmatch.nn.precision import bfloat16_products

NEEDS_ONEDNN = pytest.mark.skipif(not HAS_ONEDNN, reason="this torch has no oneDNN product")
CASES = [
    (Products, torch.float64, 1e-12),
    (Products, torch.float32, 1e-5),
    (MKLProducts, torch.float32, 1e-5),
    pytest.param(OneDNNProducts, torch.float32, 1e-5, marks=NEEDS_ONEDNN),
]


WIDE = torch.randn(
    5,
    7,
    dtype=torch.float64,
    generator=torch.Generator().manual_seed(0),
)
"""A matrix whose slices have gaps between their rows."""


def random(*shape):
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize(("products", "dtype", "tolerance"), CASES)
@pytest.mark.parametrize(
    ("x", "weight"),
    [
        pytest.param(random(5, 3), random(4, 3), id="rows"),
        pytest.param(WIDE[:, 2:5], random(4, 3), id="slices of rows"),
        pytest.param(random(3, 5).t(), random(3, 4).t(), id="transposed"),
        pytest.param(random(0, 3), random(4, 3), id="no rows"),
        pytest.param(random(1, 3), random(4, 3), id="one row"),
    ],
)
def test_products_of_all_layouts(products, dtype, tolerance, x, weight):
    """Compare with sums written out in float64."""
    wide = WIDE.to(dtype)
    x = x.to(dtype)
    weight = weight.to(dtype)
    expected = (x.double().unsqueeze(1) * weight.double()).sum(-1)
    assert_close(products.linear(x, weight), expected, dtype, tolerance)
    prepacked = products.prepacked(weight)
    assert_close(products.linear(x, prepacked), expected, dtype, tolerance)
    for bias in (torch.randn(4, dtype=dtype), wide[:4, 1], wide[0, :1].expand(4)):
        with_bias = expected + bias.double()
        assert_close(products.linear(x, weight, bias), with_bias, dtype, tolerance)
    y = torch.randn(len(x), 2, dtype=dtype)
    expected = (x.double().unsqueeze(2) * y.double().unsqueeze(1)).sum(0)
    assert_close(products.product_over_rows(x, y), expected, dtype, tolerance)


def assert_close(actual, expected, dtype, tolerance):
    assert actual.dtype == dtype
    torch.testing.assert_close(actual.double(), expected, rtol=0, atol=tolerance)


def chosen(dtype=torch.float32):
    return resolve("LSTM", ("naive", "eager"), torch.zeros(2, dtype=dtype)).products


@NEEDS_ONEDNN
@pytest.mark.filterwarnings("ignore:TF32 acceleration")  # torch's own warning about the switch
@pytest.mark.parametrize("intel", [False, True])
def test_the_library_of_single_precision(intel, monkeypatch):
    """MKL is used on Intel's processors, unless factors are rounded; otherwise oneDNN, if it is
    on.
    """
    monkeypatch.setattr(products_module, "is_intel", lambda: intel)
    monkeypatch.setattr("torch.backends.mkl.is_available", lambda: True)
    assert chosen() is (MKLProducts if intel else OneDNNProducts)
    assert chosen(torch.float64) is Products
    with bfloat16_products():
        assert chosen() is OneDNNProducts
    monkeypatch.setattr("torch.backends.mkl.is_available", lambda: False)
    assert chosen() is OneDNNProducts
    with torch.backends.mkldnn.flags(enabled=False):
        assert chosen() is Products


@pytest.mark.parametrize(
    ("cpuinfo", "processor", "expected"),
    [
        ("vendor_id\t: GenuineIntel\n", "", True),
        ("vendor_id\t: AuthenticAMD\n", "", False),
        (None, "Intel64 Family 6 Model 85 Stepping 7, GenuineIntel", True),
        (None, "arm", False),
    ],
)
def test_the_processor_s_maker(monkeypatch, cpuinfo, processor, expected):
    def read_text(path):
        assert str(path) == "/proc/cpuinfo"
        if cpuinfo is None:
            raise FileNotFoundError(path)
        return cpuinfo

    monkeypatch.setattr("pathlib.Path.read_text", read_text)
    monkeypatch.setattr("platform.processor", lambda: processor)
    assert products_module.is_intel.__wrapped__() is expected


@pytest.mark.parametrize(("products", "dtype", "tolerance"), CASES)
@pytest.mark.parametrize("S", [1, 2])
def test_each_map_is_torch_s_linear(S, products, dtype, tolerance):
    torch.manual_seed(0)
    x, weight, bias = (
        torch.randn(shape, dtype=dtype, requires_grad=True)
        for shape in ((S, 6, 3), (S, 4, 3), (S, 4))
    )
    sums = torch.ones(S, 6, 9, dtype=dtype)[..., 2:6]
    products.add_products(sums, x.detach(), products.side_by_side(weight.detach()))
    expected = 1 + torch.stack([F.linear(x[s], weight[s]) for s in range(S)])
    torch.testing.assert_close(sums, expected.detach(), rtol=0, atol=tolerance)
    expected = torch.stack([F.linear(x[s], weight[s], bias[s]) for s in range(S)])
    actual = products.affine(x, weight, bias)
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)
    upstream = torch.randn_like(expected)
    by_x, by_weight = torch.autograd.grad(expected, (x, weight), upstream)
    gradient = products.input_gradient(weight, upstream)
    torch.testing.assert_close(gradient, by_x, rtol=0, atol=tolerance)
    gradients = torch.stack(products.weight_gradients(x, upstream))
    torch.testing.assert_close(gradients, by_weight, rtol=0, atol=tolerance)
