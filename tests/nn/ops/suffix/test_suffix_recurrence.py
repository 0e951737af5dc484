"""The fast recurrence of SuBiLSTM against the plain one, and what it computes."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.suffix import cpu, recurrence, schedule
from allennlp_sentmatch.nn.suffix_bilstm import suffix_recurrence
from tests.nn.ops.conftest import CPU_BACKENDS, run_by

S, H = 2, 3
every_cell = pytest.mark.parametrize(
    ("cell", "way"),
    [
        *(pytest.param("lstm", *x.values, marks=x.marks) for x in CPU_BACKENDS),
        ("lstm", "eager"),
        ("gru", "eager"),
    ],
)


def by(way):
    """The recurrence by a backend."""
    return partial(recurrence.suffix_recurrence, Backend(way.partition(",")[0]))


def plain(projected, weights, *rest):
    """The plain recurrence in each direction."""
    directions = [suffix_recurrence(x, weight, *rest) for x, weight in zip(projected, weights)]
    return tuple(torch.stack(encodings) for encodings in zip(*directions))


def arguments(cell, lengths, dtype=torch.float64, device="cpu"):
    """W x + b and U with gradients, and the number of sentences at each token."""
    torch.manual_seed(0)
    T, GH = max(lengths), {"lstm": 4 * H, "gru": 3 * H}[cell]
    projected = torch.randn(S, T, len(lengths), GH, dtype=torch.float64)
    weight_hh = torch.randn(S, GH, H, dtype=torch.float64)
    sizes = [sum(length > t for length in lengths) for t in range(T)]
    tensors = (x.to(device, dtype).requires_grad_() for x in (projected, weight_hh))
    return (*tensors, sizes)


def run(function, cell, lengths, window, prefixes_only, **placement):
    """The encodings of what is no padding, and the gradients by them."""
    projected, weight_hh, sizes = arguments(cell, lengths, **placement)
    num_starts = max(len(sizes) - window, 0) + 1 if prefixes_only else len(sizes)
    weights = weight_hh.unbind()
    encodings = function(projected, weights, sizes, window, num_starts, cell)
    mask = torch.tensor([[t < length for length in lengths] for t in range(len(sizes))])
    mask = mask.to(projected.device)
    read = [x[:, mask] for x in encodings[: 1 if prefixes_only else 2]]
    upstream = [torch.linspace(-1, 1, x.numel()).to(x).view_as(x) for x in read]
    gradients = torch.autograd.grad(read, (projected, weight_hh), upstream)
    with torch.no_grad():
        evaluated = function(projected, weights, sizes, window, num_starts, cell)
    tolerance = 1e-12 if projected.dtype == torch.float64 else 1e-5
    for x, y in zip(encodings, evaluated):
        torch.testing.assert_close(y, x, rtol=0, atol=tolerance)
    assert all(torch.isfinite(x).all() for x in encodings)
    return [*read, *gradients]


@every_cell
@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    window=st.integers(1, 8),
    prefixes_only=st.booleans(),
    rows=st.sampled_from([1, 5, 4096]),
)
def test_is_the_plain_recurrence(cell, way, lengths, window, prefixes_only, rows):
    lengths = sorted(lengths, reverse=True)
    case = (cell, lengths, window, prefixes_only)
    with run_by(way), pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "ROWS_PER_CHUNK", rows)
        patch.setattr(cpu, "ROWS_PER_PRODUCT", rows)
        fast = run(by(way), *case)
    for actual, expected in zip(fast, run(plain, *case)):
        torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)


@every_cell
@pytest.mark.parametrize("window", [2, 5])
def test_gradients(cell, way, window):
    projected, weight_hh, sizes = arguments(cell, [4, 2, 1])

    def read(projected, weight_hh):
        return by(way)(projected, weight_hh.unbind(), sizes, window, 4, cell)

    with run_by(way):
        assert torch.autograd.gradcheck(read, (projected, weight_hh))


@every_cell
def test_single_precision(cell, way):
    case = (cell, [6, 6, 4, 1], 7, False)
    with run_by(way):
        fast = run(by(way), *case, dtype=torch.float32)
    for actual, expected in zip(fast, run(plain, *case)):
        torch.testing.assert_close(actual.double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("window", [2, 7])
def test_on_a_gpu(cell, window):
    case = (cell, [6, 6, 4, 1], window, False)
    fast = run(by("eager"), *case, dtype=torch.float32, device="cuda")
    for actual, expected in zip(fast, run(plain, *case)):
        torch.testing.assert_close(actual.cpu().double(), expected, rtol=1e-5, atol=1e-5)
