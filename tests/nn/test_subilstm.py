"""SuBiLSTM against the paper's equations, every prefix and suffix read separately."""

import pytest
import torch

from allennlp_sentmatch.nn import SuffixBiLSTM
from tests.nn.equations import assert_same, batch, gru_step, lstm_step
from tests.nn.memory import CAN_RECORD, PeakMemory
from tests.nn.ops.conftest import record_products

CELLS = ["lstm", "gru"]
COMBINATIONS = ["max", "mean", "concat", "gate"]


def encode(cell, kind, x):
    """Return the last hidden state, (H), of an LSTM or GRU that reads the tokens x one by one."""
    weights = (cell.weight_ih_l0, cell.weight_hh_l0, cell.bias_l0)
    no_bias = torch.zeros_like(cell.bias_l0)
    h = x.new_zeros(cell.hidden_size)
    c = x.new_zeros(cell.hidden_size)
    for x_t in x:
        if kind == "lstm":
            h, c = lstm_step(x_t, h, c, *weights)
        else:
            h = gru_step(x_t, h, *weights, no_bias)
    return h


def combine(encoder, p, s, gate):
    if encoder.combination == "max":
        return torch.max(p, s)
    if encoder.combination == "mean":
        return 0.5 * p + 0.5 * s
    if encoder.combination == "concat":
        return torch.cat([p, s])
    r = torch.sigmoid(gate.weight @ torch.cat([p, s]) + gate.bias)
    return r * p + (1 - r) * s


def output_at(encoder, x, i):
    """Return H_i of equations 1-6 for the sentence x (n, D), i counted from 0."""
    n = len(x)
    k = encoder.max_context or len(x)
    prefix = x[max(0, i - k + 1) : i + 1]
    suffix = x[i : min(n, i + k)]
    forward_suffix = encoder.forward_cell if encoder.tied else encoder.forward_suffix_cell
    reverse_prefix = encoder.reverse_cell if encoder.tied else encoder.reverse_prefix_cell
    p = encode(encoder.forward_cell, encoder.cell, prefix)  # (1)
    s = encode(forward_suffix, encoder.cell, suffix)  # (2)
    p_reverse = encode(reverse_prefix, encoder.cell, prefix.flip(0))  # (3)
    s_reverse = encode(encoder.reverse_cell, encoder.cell, suffix.flip(0))  # (4)
    forward = combine(encoder, p, s, getattr(encoder, "forward_gate", None))
    reverse = combine(encoder, p_reverse, s_reverse, getattr(encoder, "reverse_gate", None))
    return torch.cat([forward, reverse])  # (5)


@pytest.mark.usefixtures("both_backends")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("max_context", [None, 1, 3])
def test_follows_the_equations(cell, combination, tied, max_context):
    torch.manual_seed(0)
    encoder = SuffixBiLSTM(3, 4, tied, combination, cell, max_context).double()
    lengths = [2, 5, 1, 5]
    inputs, mask = batch(lengths, 6, 3, seed=1)
    outputs = encoder(inputs, mask)
    assert outputs.shape == (4, 6, 16 if combination == "concat" else 8)
    for sentence, length in enumerate(lengths):
        for i in range(length):
            assert_same(outputs[sentence, i], output_at(encoder, inputs[sentence, :length], i))


@pytest.mark.parametrize("tied", [True, False])
def test_training_draws_contexts_up_to_the_largest_one(tied):
    """Each output follows the equations with a context of 1, 2 or 3, all of which occur."""
    torch.manual_seed(0)
    encoder = SuffixBiLSTM(3, 4, tied, max_context=3, random_context=True).double()
    inputs = torch.randn(1, 5, 3, dtype=torch.float64)
    sentence = inputs[0]
    expected = {}
    for context in (1, 2, 3):
        encoder.max_context = context
        outputs = [output_at(encoder, sentence, i) for i in range(5)]
        expected[context] = torch.stack(outputs)
    encoder.max_context = 3
    drawn = set()
    for _ in range(30):
        (outputs,) = encoder(inputs)
        equal = [k for k in expected if torch.allclose(outputs, expected[k], atol=1e-10)]
        assert equal
        drawn.update(equal)
    assert drawn == {1, 2, 3}
    encoder.eval()
    for _ in range(5):
        (outputs,) = encoder(inputs)
        assert_same(outputs, expected[3])


def test_a_random_context_needs_the_largest_one():
    with pytest.raises(ValueError, match="random_context=True needs max_context"):
        SuffixBiLSTM(3, 4, random_context=True)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("max_context", [None, 4])
def test_multiplies_what_it_needs_and_no_more(tied, max_context, monkeypatch):
    T = 9
    num_cells = 2 if tied else 4
    products = record_products(monkeypatch)
    encoder = SuffixBiLSTM(7, 5, tied=tied, max_context=max_context).double().requires_grad_(False)
    encoder(torch.randn(3, T, 7, dtype=torch.float64))
    # The products with W, which have 7 inputs, and with U, which have 5.
    assert sum(rows for rows, shape in products if shape[-1] == 7) == num_cells * 3 * T
    recurrent = [rows for rows, shape in products if shape[-1] == 5]
    assert len(recurrent) <= num_cells * T
    window = max_context or T
    num_steps = sum(min(t, window - 1) for t in range(T))  # with a state from an earlier token
    if not tied:  # the prefixes' own cell: windows that are full at the end
        for start in range(T - window + 1):
            num_steps += len(range(start + 1, min(T, start + window)))
    assert sum(recurrent) == 2 * 3 * num_steps  # two directions, three sentences


@pytest.mark.skipif(not CAN_RECORD, reason="this torch cannot record its operations")
@pytest.mark.usefixtures("both_backends")
@pytest.mark.parametrize("tied", [True, False])
def test_memory_in_evaluation_grows_with_the_length(tied):
    encoder = SuffixBiLSTM(7, 5, tied=tied)

    def peak(num_tokens, grad):
        with torch.set_grad_enabled(grad), PeakMemory() as memory:
            encoder(torch.randn(3, num_tokens, 7))
        return memory.bytes

    assert peak(24, grad=False) < 4.4 * peak(6, grad=False)
    # Training keeps the states of all suffixes: the measure distinguishes T from T^2.
    assert peak(24, grad=True) > 6 * peak(6, grad=True)
