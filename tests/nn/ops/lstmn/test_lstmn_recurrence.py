"""Cases of the compiled LSTMN that test_every_recurrence.py does not cover."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial

import pytest
import torch

from allennlp_sentmatch.nn.lstmn import LSTMN
from allennlp_sentmatch.nn.ops.backends import resolve, use_backend
from allennlp_sentmatch.nn.ops.common.autograd import differentiable
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.lstmn import cpu
from allennlp_sentmatch.nn.ops.lstmn.naive import LSTMNWeights
from allennlp_sentmatch.nn.ops.lstmn.recurrence import IMPLEMENTATIONS
from tests.nn import equations
from tests.nn.equations import normal
from tests.nn.memory import numbers_kept
from tests.nn.ops.conftest import CPU_BACKENDS, record_products, run_by

D = 3
H = 19
A = 35  # not a multiple of a vector's width
LENGTHS = [7, 2, 0, 5, 7, 1, 4]

batch = partial(equations.batch, size=D)
every_backend = pytest.mark.usefixtures("backend")


@pytest.fixture(params=CPU_BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    with run_by(request.param):
        yield request.param


def make(bidirectional: bool) -> LSTMN:
    torch.manual_seed(0)
    return normal(LSTMN(D, H, A, bidirectional))


BLOCKS = [35, 15, 16, 0, 33, 17, 32]


@every_backend
@pytest.mark.parametrize(
    ("lengths", "bidirectional", "parts", "scale", "num_units"),
    [
        # Several blocks of 16 tokens, in which compiled steps collect the gradients of tapes.
        *((BLOCKS, bidirectional, (), 1, A) for bidirectional in (False, True)),
        # Scores farther apart than the exponential function's range.
        (LENGTHS, False, ("vector",), 1e4, A),
        # Keys and queries farther from zero than their sums.
        *(
            ([20, 3, 17], False, ("hidden", "input", "previous"), scale, num_units)
            for scale, num_units in [(5.0, A), (300.0, A), (300.0, 1)]
        ),
    ],
)
def test_is_the_naive_form(lengths, bidirectional, parts, scale, num_units):
    model = make(bidirectional)
    with torch.no_grad():
        for part in parts:
            model.get_parameter(f"attention_{part}")[:num_units] *= scale
    inputs, mask = batch(lengths, max(lengths))
    results = []
    for name in (None, "naive"):
        # The first pass keeps the test's backend.
        with use_backend(name) if name else nullcontext():
            tapes = model.read(inputs.requires_grad_(), mask)
        attention = tapes.attention if bidirectional else (tapes.attention,)
        outputs = [tapes.hidden, tapes.cell, *attention]
        loss = sum((x * torch.linspace(-1, 2, x.numel()).view_as(x)).sum() for x in outputs)
        results.append([*outputs, *torch.autograd.grad(loss, [inputs, *model.parameters()])])
    tolerance = 1e-7 if parts else 1e-9  # a steep attention amplifies rounding
    torch.testing.assert_close(*results, atol=tolerance, rtol=tolerance)


@every_backend
def test_what_is_no_number_stays_in_its_sentence():
    model = make(bidirectional=False)
    inputs, mask = batch(LENGTHS, 7)
    expected = inputs.clone().requires_grad_()
    model(expected, mask).sum().backward()
    inputs[0, 2] = float("nan")
    inputs.requires_grad_()
    outputs = model(inputs, mask)
    assert outputs[0, :2].isfinite().all()
    assert outputs[0, 2:].isnan().all()
    outputs.sum().backward()
    torch.testing.assert_close(inputs.grad[1:], expected.grad[1:], atol=1e-9, rtol=1e-9)


@every_backend
def test_gradients_from_outside_may_have_any_memory_format():
    model = make(bidirectional=False)
    inputs, mask = batch(LENGTHS, 7)
    packing = Packing.of(inputs, mask, bidirectional=False)
    weights = [model.get_parameter(name).unsqueeze(0) for name in LSTMNWeights._fields]
    fixed = (resolve("LSTMN", IMPLEMENTATIONS, inputs), packing)
    arguments = (packing.pack(inputs), None, LSTMNWeights(*weights))
    outputs = differentiable(cpu.forward, cpu.backward, fixed, arguments)
    gradients = [torch.randn_like(x).mT.contiguous().mT for x in outputs]
    assert not any(x.is_contiguous() for x in gradients)
    in_order = [x.contiguous() for x in gradients]
    expected = torch.autograd.grad(outputs, weights, in_order, retain_graph=True)
    actual = torch.autograd.grad(outputs, weights, gradients)
    torch.testing.assert_close(actual, expected, atol=1e-12, rtol=1e-12)


@every_backend
@pytest.mark.parametrize("training", [False, True])
def test_each_token_s_key_is_projected_once(monkeypatch: pytest.MonkeyPatch, training: bool):
    products = record_products(monkeypatch)
    with torch.set_grad_enabled(training):
        make(bidirectional=False)(*batch(LENGTHS, 9))
    # Nothing attends to the last token of a sentence.
    rows = sum(rows for rows, shape in products if shape == (A, H))
    assert rows == sum(length - 1 for length in LENGTHS if length > 0)


@every_backend
def test_the_attention_s_hidden_layer_is_not_kept():
    """The memory that a forward pass keeps grows linearly with T, except for the attention."""
    model = make(bidirectional=False)
    of_20, of_40 = (numbers_kept(lambda T=T: model(*batch([T] * 2, T))) for T in (20, 40))
    growth = of_40 - 2 * of_20
    attention = 2 * (40**2 - 2 * 20**2)
    assert growth <= 2 * attention  # with a hidden layer of A values, at least A times
