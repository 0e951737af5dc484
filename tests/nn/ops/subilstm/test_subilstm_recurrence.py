"""The backends of SuBiLSTM's recurrence against its naive form."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from allennlp_sentmatch.nn.ops.subilstm import cpu, recurrence, schedule
from allennlp_sentmatch.nn.ops.subilstm.naive import SuffixWeights
from allennlp_sentmatch.nn.ops.subilstm.recurrence import suffix_recurrence
from tests.nn.ops.conftest import CPU_BACKENDS, run_by

S, D, H = 2, 4, 3
every_cell = pytest.mark.parametrize(
    ("cell", "backend"),
    [
        pytest.param(cell, *x.values, marks=x.marks)
        for cell in ("lstm", "gru")
        for x in (*CPU_BACKENDS, pytest.param("eager"))
    ],
)


def arguments(cell, lengths):
    """Tokens, W, U and b with gradients, and the number of sentences at each token."""
    torch.manual_seed(0)
    T, GH = max(lengths), {"lstm": 4 * H, "gru": 3 * H}[cell]
    shapes = [(S, T, len(lengths), D), (S, GH, D), (S, GH, H), (S, GH)]
    tensors = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    sizes = [sum(length > t for length in lengths) for t in range(T)]
    return [x.requires_grad_() for x in tensors], sizes


def encode(tensors, *rest):
    tokens, *parameters = tensors
    return suffix_recurrence(
        tokens, [SuffixWeights(*direction) for direction in zip(*parameters)], *rest
    )


def run(backend, cell, lengths, window, prefixes_only):
    """The encodings outside of the padding, and their gradients."""
    tensors, sizes = arguments(cell, lengths)
    num_starts = max(len(sizes) - window, 0) + 1 if prefixes_only else len(sizes)
    with run_by(backend):
        encodings = encode(tensors, sizes, window, num_starts, cell)
        with torch.no_grad():
            evaluated = encode(tensors, sizes, window, num_starts, cell)
    mask = torch.tensor([[t < length for length in lengths] for t in range(len(sizes))])
    used = [x[:, mask] for x in encodings[: 1 if prefixes_only else 2]]
    upstream = [torch.linspace(-1, 1, x.numel()).to(x).view_as(x) for x in used]
    gradients = torch.autograd.grad(used, tensors, upstream)
    for x, y in zip(encodings, evaluated):
        torch.testing.assert_close(y, x, rtol=0, atol=1e-12)
    assert all(torch.isfinite(x).all() for x in encodings)
    return [*used, *gradients]


@every_cell
@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    window=st.integers(1, 8),
    prefixes_only=st.booleans(),
    rows=st.sampled_from([1, 5, 4096]),
    recomputed=st.booleans(),
)
def test_is_the_naive_recurrence(cell, backend, lengths, window, prefixes_only, rows, recomputed):
    lengths = sorted(lengths, reverse=True)
    case = (cell, lengths, window, prefixes_only)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "ROWS_PER_CHUNK", rows)
        for native_cell in (cpu.NativeLSTMCell, cpu.NativeGRUCell):
            patch.setattr(native_cell, "max_rows", rows)
        if recomputed:
            patch.setattr(recurrence, "MAX_SAVED_BYTES", 0)
        actual = run(backend, *case)
    for x, expected in zip(actual, run("naive", *case)):
        torch.testing.assert_close(x, expected, rtol=0, atol=1e-9)
