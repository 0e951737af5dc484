"""SuBiLSTM against the paper's equations, every prefix and suffix read on its own."""

import pytest
import torch

from allennlp_sentmatch.nn import SuffixBiLSTM
from tests.nn.equations import assert_same, batch, gru_step, lstm_step
from tests.nn.operations import Operations

CELLS = ["lstm", "gru"]
COMBINATIONS = ["max", "mean", "concat", "gate"]


def encode(cell, kind, x):
    """The last hidden state, (H), of an LSTM or GRU that reads the tokens x one at a time."""
    weights = (cell.weight_ih_l0, cell.weight_hh_l0, cell.bias_l0)
    h = c = x.new_zeros(cell.hidden_size)
    for x_t in x:
        if kind == "lstm":
            h, c = lstm_step(x_t, h, c, *weights)
        else:
            h = gru_step(x_t, h, *weights, torch.zeros_like(cell.bias_l0))
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
    """H_i of equations 1-6 for the sentence x (n, D), i counted from 0."""
    n, k = len(x), encoder.max_context or len(x)
    prefix, suffix = x[max(0, i - k + 1) : i + 1], x[i : min(n, i + k)]
    forward_suffix = encoder.forward_cell if encoder.tied else encoder.forward_suffix_cell
    reverse_prefix = encoder.reverse_cell if encoder.tied else encoder.reverse_prefix_cell
    p = encode(encoder.forward_cell, encoder.cell, prefix)  # (1)
    s = encode(forward_suffix, encoder.cell, suffix)  # (2)
    p_reverse = encode(reverse_prefix, encoder.cell, prefix.flip(0))  # (3)
    s_reverse = encode(encoder.reverse_cell, encoder.cell, suffix.flip(0))  # (4)
    both = (("forward_gate", p, s), ("reverse_gate", p_reverse, s_reverse))
    return torch.cat(
        [combine(encoder, *x, getattr(encoder, gate, None)) for gate, *x in both]
    )  # (5)


@pytest.mark.usefixtures("both_backends")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("max_context", [None, 1, 3, 9])
def test_follows_the_equations(cell, combination, tied, max_context):
    torch.manual_seed(0)
    encoder = SuffixBiLSTM(3, 4, tied, combination, cell, max_context).double()
    lengths = [2, 6, 5, 1, 6]
    inputs, mask = batch(lengths, 7, 3, seed=1)
    outputs = encoder(inputs, mask)
    assert outputs.shape == (5, 7, 16 if combination == "concat" else 8)
    for sentence, length in enumerate(lengths):
        for i in range(length):
            assert_same(outputs[sentence, i], output_at(encoder, inputs[sentence, :length], i))


def run(num_tokens, grad=False, **settings):
    """The operations of encoding three sentences of so many tokens."""
    torch.manual_seed(0)
    encoder = SuffixBiLSTM(7, 5, **settings)
    inputs = torch.randn(3, num_tokens, 7)
    mask = torch.ones(3, num_tokens, dtype=torch.bool)
    with torch.set_grad_enabled(grad), Operations() as operations:
        encoder(inputs, mask)
    return operations


@pytest.mark.usefixtures("both_backends")
@pytest.mark.parametrize(("tied", "num_cells"), [(True, 2), (False, 4)])
def test_projects_each_token_once_and_takes_a_step_for_each(tied, num_cells):
    for T in (4, 9, 16):
        operations = run(T, tied=tied)
        # The products with W, which have 7 inputs, and those with U, which have 5.
        projections = [rows for rows, inputs in operations.products if inputs == 7]
        recurrent = [rows for rows, inputs in operations.products if inputs == 5]
        assert sum(projections) == num_cells * 3 * T
        assert len(recurrent) <= num_cells * T


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("max_context", [None, 4])
def test_multiplies_the_states_of_the_suffixes_being_read_and_no_others(tied, max_context):
    T = 9
    operations = run(T, tied=tied, max_context=max_context)
    rows = sum(rows for rows, inputs in operations.products if inputs == 5)
    window = max_context or T
    read = sum(min(t, window - 1) for t in range(T))  # with a state from an earlier token
    if not tied:  # the prefixes' own cell: windows of all tokens that are full in the end
        last_start = T - window
        read += sum(
            1 for t in range(T) for start in range(t) if t - start < window and start <= last_start
        )
    assert rows == 2 * 3 * read  # two directions, three sentences


@pytest.mark.usefixtures("both_backends")
@pytest.mark.parametrize("tied", [True, False])
def test_memory_in_evaluation_grows_with_the_length(tied):
    short, long = (run(T, tied=tied).peak_memory for T in (16, 64))
    assert long < 4.4 * short
    # In training the states of all suffixes are kept: the measure does tell T from T^2.
    short, long = (run(T, grad=True, tied=tied).peak_memory for T in (16, 64))
    assert long > 8 * short
