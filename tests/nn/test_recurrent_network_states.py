"""The states at every step against those that torch.nn.LSTM itself returns."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.recurrent_networks import (
    _packed_final_states,
    lstm_final_states,
    lstm_states,
)

D, H = 3, 4
LENGTHS = (5, 1, 3)


def make(bidirectional: bool) -> torch.nn.LSTM:
    torch.manual_seed(0)
    return torch.nn.LSTM(D, H, batch_first=True, bidirectional=bidirectional).double()


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    mask = torch.arange(6) < torch.tensor(LENGTHS).unsqueeze(1)
    return torch.randn(len(LENGTHS), 6, D, dtype=torch.float64), mask


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=1e-9)


by_both_backends = pytest.mark.parametrize("fast", [True, False])
in_one_direction_or_two = pytest.mark.parametrize("bidirectional", [False, True])


@by_both_backends
@in_one_direction_or_two
def test_the_hidden_states_are_torch_s(bidirectional: bool, fast: bool):
    lstm = make(bidirectional)
    inputs, mask = batch()
    with use_backend(None if fast else "naive"):
        hidden, cell = lstm_states(lstm, inputs, mask)
    packed = pack_padded_sequence(inputs, torch.tensor(LENGTHS), True, enforce_sorted=False)
    expected, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=6)
    assert_same(hidden, expected)
    assert not cell[~mask].any()


@by_both_backends
def test_a_cell_is_torch_s_last_cell_of_what_was_read_until_then(fast: bool):
    lstm = make(bidirectional=True)
    inputs, mask = batch()
    with use_backend(None if fast else "naive"):
        _, cell = lstm_states(lstm, inputs, mask)
    for row, length in enumerate(LENGTHS):
        for t in range(length):
            _, (_, after_prefix) = lstm(inputs[row : row + 1, : t + 1])
            _, (_, after_suffix) = lstm(inputs[row : row + 1, t:length])
            assert_same(cell[row, t, :H], after_prefix[0, 0])
            assert_same(cell[row, t, H:], after_suffix[1, 0])


@by_both_backends
@in_one_direction_or_two
def test_gradcheck(bidirectional: bool, fast: bool):
    lstm = torch.nn.LSTM(2, 2, batch_first=True, bidirectional=bidirectional).double()
    inputs = torch.randn(2, 4, 2, dtype=torch.float64, requires_grad=True)
    mask = torch.arange(4) < torch.tensor([[4], [1]])

    def read(*_: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # changed in place
        with use_backend(None if fast else "naive"):
            return lstm_states(lstm, inputs, mask)

    assert torch.autograd.gradcheck(read, (inputs, *lstm.parameters()))


@by_both_backends
@in_one_direction_or_two
def test_padding_does_not_matter(bidirectional: bool, fast: bool):
    lstm = make(bidirectional)
    inputs, mask = batch()
    spoiled = inputs.masked_fill(~mask.unsqueeze(-1), float("nan")).requires_grad_()
    with use_backend(None if fast else "naive"):
        states, expected = (lstm_states(lstm, x, mask) for x in (spoiled, inputs))
    for state, clean in zip(states, expected):
        assert torch.equal(state, clean)
    (gradient,) = torch.autograd.grad(states[0].sum() + states[1].sum(), spoiled)
    assert gradient[mask].all()
    assert not gradient[~mask].any()


@by_both_backends
@pytest.mark.parametrize("num_tokens", [0, 2])
def test_nothing_but_padding(num_tokens: int, fast: bool):
    with use_backend(None if fast else "naive"):
        states = lstm_states(
            make(bidirectional=True),
            torch.full((2, num_tokens, D), float("nan"), dtype=torch.float64),
            torch.zeros(2, num_tokens, dtype=torch.bool),
        )
    for state in states:
        assert state.shape == (2, num_tokens, 2 * H)
        assert not state.any()


@in_one_direction_or_two
@pytest.mark.parametrize("run", [lstm_final_states, _packed_final_states])
def test_last_states_are_torch_s(bidirectional: bool, run):
    """On a CPU, and packed as on a GPU; the last sentence is empty."""
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(D, H, 3, batch_first=True, bidirectional=bidirectional).double()
    inputs, mask = batch()
    inputs, mask = torch.cat([inputs, inputs[:1]]), torch.cat([mask, torch.zeros_like(mask[:1])])
    outputs, hidden, cell = run(lstm, inputs.masked_fill(~mask.unsqueeze(-1), float("nan")), mask)
    assert hidden.shape == cell.shape == (4, 3, H * (1 + bidirectional))
    for row, length in enumerate(LENGTHS):
        expected, last = lstm(inputs[row : row + 1, :length])
        assert_same(outputs[row, :length], expected[0])
        for states, of_each in zip((hidden, cell), last):  # (layers * directions, 1, H)
            assert_same(states[row], of_each[:, 0].reshape(3, -1))
    for states in (outputs, hidden, cell):
        assert not states[3].any()
    assert not outputs[~mask].any()


@pytest.mark.parametrize("run", [lstm_final_states, _packed_final_states])
def test_states_before_the_first_step(run):
    """On a CPU, and packed as on a GPU; the last sentence is empty and keeps its states."""
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(D, H, 3, batch_first=True).double()
    inputs, mask = batch()
    inputs, mask = torch.cat([inputs, inputs[:1]]), torch.cat([mask, torch.zeros_like(mask[:1])])
    initial = torch.randn(4, 3, H, dtype=torch.float64), torch.randn(4, 3, H, dtype=torch.float64)
    outputs, *last = run(lstm, inputs, mask, initial)
    for row, length in enumerate(LENGTHS):
        before = (initial[0][row].unsqueeze(1), initial[1][row].unsqueeze(1))  # (3, 1, H) each
        expected, expected_last = lstm(inputs[row : row + 1, :length], before)
        assert_same(outputs[row, :length], expected[0])
        for states, of_each in zip(last, expected_last):
            assert_same(states[row], of_each[:, 0])
    for states, start in zip(last, initial):
        assert torch.equal(states[3], start[3])
    assert not outputs[~mask].any()


def test_dropout_between_the_layers_alone():
    lstm = torch.nn.LSTM(D, H, 2, batch_first=True, dropout=0.5).double()
    outputs, hidden, _ = lstm_final_states(lstm.train(), *batch())
    expected_outputs, expected, _ = lstm_final_states(lstm.eval(), *batch())
    assert_same(hidden[:, 0], expected[:, 0])
    assert not torch.isclose(hidden[:, 1], expected[:, 1]).all()
    assert not torch.isclose(outputs, expected_outputs).all()


def test_a_packed_batch_with_a_token_after_padding():
    inputs, mask = batch()
    mask[2, 0] = False
    with pytest.raises(ValueError, match="right-padded, but token 1 of sentence 2 follows"):
        _packed_final_states(make(bidirectional=True), inputs, mask)
