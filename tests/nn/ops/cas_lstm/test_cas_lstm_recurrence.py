"""The backends of LSTM and CAS-LSTM against the naive form."""

import copy
import itertools
import os
from contextlib import nullcontext

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from allennlp_sentmatch.nn import CellAwareLSTM
from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.cas_lstm import eager, gpu, layer
from allennlp_sentmatch.nn.ops.cas_lstm.naive import run_step
from allennlp_sentmatch.nn.ops.cas_lstm.recurrence import lstm_last_states
from allennlp_sentmatch.nn.ops.common.products import Products
from tests.nn.gradients import gradients_or_zeros
from tests.nn.ops.conftest import BACKENDS, run_by

D, H = 5, 3
VARIANTS = {
    "lambda 0.3": {"vertical_weight": 0.3},
    "trainable lambda": {"vertical_weight": "trainable"},
    "no lambda": {"vertical_weight": None},
    "peephole": {"vertical_gate": "peephole"},
}
LENGTHS = {
    "all different": [4, 1, 6, 3, 5],
    "alike": [4, 4, 4],
    "some empty": [0, 2, 0, 5, 2],
    "one token": [1],
}
#: Under TRITON_INTERPRET=1 these tests are of the backend for GPUs (`make test-triton`).
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def build(dtype=torch.float64, **settings):
    torch.manual_seed(0)
    encoder = CellAwareLSTM(D, H, **settings).to(dtype)
    for parameter in encoder.parameters():  # lambda's logits too: no symmetry left
        torch.nn.init.uniform_(parameter, -1, 1)
    return encoder


def batch(lengths, dtype=torch.float64, padding=float("nan")):
    torch.manual_seed(1)
    T = max(lengths) + 1
    mask = torch.arange(T) < torch.tensor(lengths).unsqueeze(1)
    inputs = torch.randn(len(lengths), T, D, dtype=dtype)
    inputs[~mask] = padding
    return inputs.requires_grad_(), mask


def outputs_and_gradients(encoder, inputs, mask):
    outputs = encoder(inputs, mask)
    torch.manual_seed(2)
    upstream = torch.randn(outputs.shape, dtype=torch.float64).to(outputs)
    return [outputs, *torch.autograd.grad(outputs, [inputs, *encoder.parameters()], upstream)]


def naive_outputs_and_gradients(encoder, inputs, mask):
    with use_backend("naive"):
        return outputs_and_gradients(encoder, inputs, mask)


@pytest.fixture(params=["gpu"] if INTERPRETED else [*BACKENDS, "eager, in chunks"])
def backend(request, monkeypatch):
    name = request.param
    if name == "eager, in chunks":  # of as few steps as have five rows
        monkeypatch.setattr(eager, "ROWS_PER_CHUNK", 5)
        name = "eager"
    with run_by(name):
        yield name.partition(",")[0]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("variant", "num_layers", "bidirectional", "lengths"),
    list(itertools.product(VARIANTS, [1, 3], [False, True], LENGTHS)),
)
def test_values_and_gradients_are_those_of_the_naive_form(
    variant, num_layers, bidirectional, lengths
):
    encoder = build(num_layers=num_layers, bidirectional=bidirectional, **VARIANTS[variant])
    inputs, mask = batch(LENGTHS[lengths])
    actual = outputs_and_gradients(encoder, inputs, mask)
    expected = naive_outputs_and_gradients(encoder, inputs, mask)
    for ours, theirs in zip(actual, expected):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    with torch.no_grad():  # which keeps nothing for a backward pass
        torch.testing.assert_close(encoder(inputs, mask), expected[0], rtol=0, atol=1e-9)


@pytest.mark.skipif(not INTERPRETED, reason="needs Triton's interpreter; see `make test-triton`")
@pytest.mark.parametrize("variant", VARIANTS)
def test_kernels_stay_within_their_tensors(variant, monkeypatch):
    """With NaN around each tensor, none of which may be loaded or overwritten."""
    from triton.runtime.interpreter import InterpreterBuilder

    launched = set()
    load = InterpreterBuilder.create_masked_load

    def load_inside(*args):
        loaded = load(*args)
        assert (loaded.data == loaded.data).all()  # no NaN
        return loaded

    class Surrounded:
        def __init__(self, kernel):
            self.kernel = kernel

        def __getitem__(self, grid):
            return lambda *args, **settings: self.launch(grid, args, settings)

        def launch(self, grid, args, settings):
            border = 4 * gpu.BLOCK
            buffers, inner = {}, list(args)
            for number, tensor in enumerate(args):
                if isinstance(tensor, torch.Tensor):
                    assert tensor.is_contiguous()
                    buffer = tensor.new_full((tensor.numel() + 2 * border,), float("nan"))
                    inner[number] = buffer[border:-border].view(tensor.shape)
                    inner[number].copy_(tensor)
                    buffers[number] = buffer
            self.kernel[grid](*inner, **settings)
            for number, buffer in buffers.items():
                assert buffer[:border].isnan().all()
                assert buffer[-border:].isnan().all()
                args[number].data.copy_(inner[number])  # not seen by autograd
            launched.add(self)

    monkeypatch.setattr(InterpreterBuilder, "create_masked_load", load_inside)
    for name in ("_forward_step", "_backward_step"):
        monkeypatch.setattr(gpu, name, Surrounded(getattr(gpu, name)))
    encoder = build(num_layers=2, bidirectional=True, **VARIANTS[variant])
    inputs, mask = batch(LENGTHS["all different"])
    expected = naive_outputs_and_gradients(encoder, inputs, mask)
    with use_backend("gpu"):
        actual = outputs_and_gradients(encoder, inputs, mask)
    assert len(launched) == 2
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("variant", VARIANTS)
def test_single_precision(variant):
    encoder = build(torch.float32, bidirectional=True, **VARIANTS[variant])
    inputs, mask = batch(LENGTHS["all different"], torch.float32)
    actual = outputs_and_gradients(encoder, inputs, mask)
    expected = naive_outputs_and_gradients(encoder.double(), inputs.double(), mask)
    for ours, theirs in zip(actual, expected):
        torch.testing.assert_close(ours.double(), theirs, rtol=0, atol=2e-5)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_initial_states(variant, lengths):
    """Against the equations, token by token from these states."""
    encoder = build(num_layers=3, **VARIANTS[variant])
    inputs, mask = batch(LENGTHS[lengths])
    B = len(inputs)
    initial = tuple(torch.randn(2, B, 3, H, dtype=torch.float64).requires_grad_())
    layers = list(map(encoder.layer_weights, range(3)))
    expected = []
    for b in range(B):
        states = [(h[None], c[None]) for h, c in zip(initial[0][b], initial[1][b])]
        outputs = inputs.new_zeros(inputs.size(1), H)
        for t in range(int(mask[b].sum())):
            hidden, lower = inputs[b, t][None], None
            for number, weights in enumerate(layers):
                hidden, gates = run_step(hidden, *states[number], lower, weights)
                states[number] = hidden, lower = hidden, gates.cell
            outputs = outputs.index_put((torch.tensor(t),), hidden[0])
        expected.append((outputs, *(torch.cat(x) for x in zip(*states))))
    wanted = [torch.stack(x) for x in zip(*expected)]
    actual = lstm_last_states(
        inputs, mask, [[encoder.layer_weights(layer)] for layer in range(3)], initial=initial
    )
    leaves = [inputs, *initial, *encoder.parameters()]
    upstream = [torch.randn_like(x) for x in wanted]
    gradients, wanted_gradients = (
        gradients_or_zeros(x, leaves, upstream) for x in (actual, wanted)
    )
    torch.testing.assert_close([*actual], wanted, rtol=0, atol=1e-9)
    torch.testing.assert_close(gradients, wanted_gradients, rtol=0, atol=1e-9)


def test_initial_states_are_of_one_direction():
    encoder = build(bidirectional=True)
    inputs, mask = batch([2])
    layers = [[encoder.layer_weights(k, s) for s in ("", "_reverse")] for k in range(2)]
    with pytest.raises(ValueError, match="single direction"):
        lstm_last_states(inputs, mask, layers, initial=torch.zeros(2, 1, 2, 2 * H))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("frozen", ["", "weight", "bias", "logit"])
def test_what_is_frozen_gets_no_gradient_and_the_rest_the_same(frozen):
    encoder = build(vertical_weight="trainable", num_layers=3)
    inputs, mask = batch([4, 2])
    inputs.requires_grad_(False)
    for name, parameter in encoder.named_parameters():
        parameter.requires_grad_(not frozen or frozen not in name)
    gradients = []
    for context in (nullcontext(), use_backend("naive")):
        encoder.zero_grad(set_to_none=True)
        with context:
            encoder(inputs, mask).square().sum().backward()
        gradients.append([parameter.grad for parameter in encoder.parameters()])
    for ours, theirs in zip(*gradients):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)


def test_dropout_lies_between_layers(monkeypatch):
    # Both draw, but for different arrangements of the same states.
    monkeypatch.setattr(
        torch.nn.functional, "dropout", lambda x, p, training: x * (1 - p) if training else x
    )
    encoder = build(num_layers=3, dropout=0.4)
    inputs, mask = batch([4, 2])
    functions = (outputs_and_gradients, naive_outputs_and_gradients)
    trained = [function(encoder, inputs, mask) for function in functions]
    evaluated = [function(encoder.eval(), inputs, mask) for function in functions]
    for ours, theirs in zip(*trained):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    for ours, theirs in zip(*evaluated):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    assert not torch.allclose(trained[0][0], evaluated[0][0])


def test_a_backend_runs_its_own_steps(backend, monkeypatch):
    calls = []
    for name, module in layer.STEPS.items():
        for function in ("forward", "backward"):
            original = getattr(module, function)
            monkeypatch.setattr(
                module, function, lambda *a, f=original, n=name: calls.append(n) or f(*a)
            )
    encoder = build(num_layers=2)
    inputs, mask = batch([3, 2])
    encoder(inputs, mask).sum().backward()
    assert calls == [backend] * 4


def test_gates_and_reduced_precision_take_the_naive_form():
    encoder = build(torch.float32)
    inputs, mask = batch([3, 2], torch.float32)
    outputs, _ = encoder(inputs, mask, return_gates=True)
    with use_backend("naive"):
        torch.testing.assert_close(outputs, encoder(inputs, mask), rtol=0, atol=1e-6)
        narrow = encoder.bfloat16()(inputs.bfloat16(), mask)
    torch.testing.assert_close(encoder(inputs.bfloat16(), mask), narrow, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(("B", "T"), [(2, 3), (2, 0), (0, 3)])
def test_a_batch_without_tokens_gives_zeros_and_zero_gradients(B, T):
    encoder = build(bidirectional=True)
    inputs = torch.full((B, T, D), float("nan"), dtype=torch.float64, requires_grad=True)
    outputs = encoder(inputs, torch.zeros(B, T, dtype=torch.bool))
    assert torch.equal(outputs, torch.zeros(B, T, 2 * H, dtype=torch.float64))
    outputs.sum().backward()
    for x in [inputs, *encoder.parameters()]:
        assert x.numel() == 0 or torch.equal(x.grad, torch.zeros_like(x))


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_activation_checkpointing(use_reentrant):
    encoder = build()
    inputs, mask = batch([3, 2], padding=0.0)
    expected = torch.autograd.grad(encoder(inputs, mask).sum(), [inputs])
    checkpoint(encoder, inputs, mask, use_reentrant=use_reentrant).sum().backward()
    torch.testing.assert_close(inputs.grad, *expected, rtol=0, atol=1e-12)


def test_a_copy_is_independent():
    encoder = build()
    inputs, mask = batch([3, 2])
    expected = encoder(inputs, mask)
    other = copy.deepcopy(encoder)
    with torch.no_grad():
        encoder.weight_hh_l1.zero_()
    assert torch.equal(other(inputs, mask), expected)


@pytest.mark.skipif(INTERPRETED, reason="is about the backends of CPUs")
@pytest.mark.usefixtures("backend")
def test_steps_cost_no_more_than_the_sentences_still_being_read(monkeypatch):
    rows = []
    linear, add_products = Products.linear, Products.add_products

    def counting_product(x, weight, bias=None):
        rows.append(len(x))
        return linear(x, weight, bias)

    def counting_products(out, x, weights):
        rows.append(x.size(1))
        add_products(out, x, weights)

    encoder = build(num_layers=1)
    monkeypatch.setattr(Products, "linear", counting_product)
    monkeypatch.setattr(Products, "add_products", counting_products)
    inputs, mask = batch([6, 1, 3, 3])
    outputs = encoder(inputs, mask)
    every = sum([6, 1, 3, 3])  # W x
    assert rows == [every, 3, 3, 1, 1, 1]
    outputs.sum().backward()
    assert rows[6:11] == [1, 1, 1, 3, 3]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("variant", VARIANTS)
def test_on_a_gpu(variant):
    encoder = build(torch.float32, bidirectional=True, **VARIANTS[variant])
    inputs, mask = batch(LENGTHS["some empty"], torch.float32)
    expected = naive_outputs_and_gradients(encoder, inputs, mask)
    inputs = inputs.detach().cuda().requires_grad_()
    with use_backend("gpu"):
        actual = outputs_and_gradients(encoder.cuda(), inputs, mask.cuda())
    for ours, theirs in zip(actual, expected):
        torch.testing.assert_close(ours.cpu(), theirs, rtol=0, atol=1e-5)
