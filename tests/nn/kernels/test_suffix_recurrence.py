"""The fast recurrence of SuBiLSTM against the plain one, and what it computes."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from allennlp_sentmatch.nn.kernels import suffix_cells_compiled
from allennlp_sentmatch.nn.kernels import suffix_recurrence as kernel
from allennlp_sentmatch.nn.suffix_bilstm import suffix_recurrence

S, H = 2, 3
NEEDS_COMPILER = pytest.mark.skipif(
    not suffix_cells_compiled.IS_COMPILED, reason="the package was installed without a compiler"
)
every_cell = pytest.mark.parametrize(
    ("cell", "compiled"),
    [pytest.param("lstm", True, marks=NEEDS_COMPILER), ("lstm", False), ("gru", False)],
)


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


def run(recurrence, cell, lengths, window, prefixes_only, **placement):
    """The encodings of what is no padding, and the gradients by them."""
    projected, weight_hh, sizes = arguments(cell, lengths, **placement)
    num_starts = max(len(sizes) - window, 0) + 1 if prefixes_only else len(sizes)
    weights = weight_hh.unbind()
    encodings = recurrence(projected, weights, sizes, window, num_starts, cell)
    mask = torch.tensor([[t < length for length in lengths] for t in range(len(sizes))])
    mask = mask.to(projected.device)
    read = [x[:, mask] for x in encodings[: 1 if prefixes_only else 2]]
    upstream = [torch.linspace(-1, 1, x.numel()).to(x).view_as(x) for x in read]
    gradients = torch.autograd.grad(read, (projected, weight_hh), upstream)
    with torch.no_grad():
        evaluated = recurrence(projected, weights, sizes, window, num_starts, cell)
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
    rows_per_chunk=st.sampled_from([1, 5, 4096]),
)
def test_is_the_plain_recurrence(cell, compiled, lengths, window, prefixes_only, rows_per_chunk):
    lengths = sorted(lengths, reverse=True)
    case = (cell, lengths, window, prefixes_only)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suffix_cells_compiled, "IS_COMPILED", compiled)
        patch.setattr(kernel, "ROWS_PER_CHUNK", rows_per_chunk)
        fast = run(kernel.suffix_recurrence, *case)
    for actual, expected in zip(fast, run(plain, *case)):
        torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)


@every_cell
@pytest.mark.parametrize("window", [2, 5])
def test_gradients(cell, compiled, window, monkeypatch):
    monkeypatch.setattr(suffix_cells_compiled, "IS_COMPILED", compiled)
    projected, weight_hh, sizes = arguments(cell, [4, 2, 1])

    def read(projected, weight_hh):
        return kernel.suffix_recurrence(projected, weight_hh.unbind(), sizes, window, 4, cell)

    assert torch.autograd.gradcheck(read, (projected, weight_hh))


@every_cell
def test_single_precision(cell, compiled, monkeypatch):
    monkeypatch.setattr(suffix_cells_compiled, "IS_COMPILED", compiled)
    case = (cell, [6, 6, 4, 1], 7, False)
    fast = run(kernel.suffix_recurrence, *case, dtype=torch.float32)
    for actual, expected in zip(fast, run(plain, *case)):
        torch.testing.assert_close(actual.double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("window", [2, 7])
def test_on_a_gpu(cell, window):
    case = (cell, [6, 6, 4, 1], window, False)
    fast = run(kernel.suffix_recurrence, *case, dtype=torch.float32, device="cuda")
    for actual, expected in zip(fast, run(plain, *case)):
        torch.testing.assert_close(actual.cpu().double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("window", [1, 3, 6])
def test_a_token_is_read_once_by_each_suffix_that_began_before_it(window):
    lengths = [6, 6, 4, 1]
    sizes = [sum(length > t for length in lengths) for t in range(6)]
    read = [
        (step.t, suffix, sentence)
        for chunk in kernel.schedule(sizes, window, num_starts=6)
        for step in chunk
        for suffix in range(step.first, step.first + step.suffixes)
        for sentence in range(step.sentences)
    ]
    expected = [
        (t, suffix, sentence)
        for sentence, length in enumerate(lengths)
        for t in range(length)
        for suffix in range(t)
        if t - suffix < window
    ]
    assert sorted(read) == sorted(expected)
    if window == 6:
        assert len(read) == sum(length * (length - 1) // 2 for length in lengths)


def test_the_rows_of_a_chunk_follow_one_another():
    for chunk in kernel.schedule([3, 3, 2, 2, 2, 1], window=4, num_starts=6):
        end = 0
        for step in chunk:
            assert step.offset == end
            end += step.suffixes * step.sentences
