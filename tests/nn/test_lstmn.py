"""The LSTMN against equations 8-13 of the report, one token at a time."""

from typing import NamedTuple, Optional

import pytest
import torch

from allennlp_sentmatch.nn.lstmn import LSTMN
from tests.nn.equations import additive_attention, assert_same, batch, normal

D = 3
H = 4
A = 5
LENGTHS = [5, 1, 3, 0, 2]

State = tuple[torch.Tensor, torch.Tensor]
by_both_backends = pytest.mark.usefixtures("both_backends")


def make(bidirectional: bool = False, attention_size: Optional[int] = A) -> LSTMN:
    torch.manual_seed(0)
    return normal(LSTMN(D, H, attention_size, bidirectional))


def weights_of(model: LSTMN, suffix: str) -> dict[str, torch.Tensor]:
    """Return the parameters of a direction by their names without its suffix."""
    weights = {}
    for name, value in model.state_dict().items():
        if name.endswith("_reverse") == (suffix == "_reverse"):
            weights[name[: len(name) - len(suffix)]] = value
    return weights


class Tapes(NamedTuple):
    """h_t, c_t and s^t of one sentence, for each token."""

    hidden: list[torch.Tensor]
    cell: list[torch.Tensor]
    attention: list[torch.Tensor]


def read_as_in_the_paper(
    model: LSTMN, sentence: torch.Tensor, suffix: str = "", start: Optional[State] = None
) -> Tapes:
    """Read one sentence (N, D), in the order of its rows."""
    weights = weights_of(model, suffix)
    zero = torch.zeros(H, dtype=torch.float64)
    tilde_h, tilde_c = start if start is not None else (zero, zero)
    tapes = Tapes([], [], [])
    for x in sentence:
        s = zero[:0]
        if tapes.hidden:
            query = weights["attention_input"] @ x + weights["attention_previous"] @ tilde_h
            keys = [weights["attention_hidden"] @ h + query for h in tapes.hidden]
            values = torch.cat([torch.stack(tapes.hidden), torch.stack(tapes.cell)], 1)
            summary, s = additive_attention(weights["attention_vector"], keys, values)  # (8)-(10)
            tilde_h, tilde_c = summary.split(H)
        products = weights["weight_ih_l0"] @ x + weights["weight_hh_l0"] @ tilde_h
        i, f, hat_c, o = (products + weights["bias_l0"]).split(H)  # (11)
        c = f.sigmoid() * tilde_c + i.sigmoid() * hat_c.tanh()  # (12)
        tapes.hidden.append(o.sigmoid() * c.tanh())  # (13)
        tapes.cell.append(c)
        tapes.attention.append(s)
    return tapes


def read_from_right_to_left(
    model: LSTMN, sentence: torch.Tensor, start: Optional[State] = None
) -> Tapes:
    """Return the reverse direction's tapes in the sentence's order."""
    tapes = read_as_in_the_paper(model, sentence.flip(0), "_reverse", start)
    attention = [s.flip(0) for s in tapes.attention[::-1]]
    return Tapes(tapes.hidden[::-1], tapes.cell[::-1], attention)


@by_both_backends
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("attention_size", [None, A])
def test_equations(attention_size: Optional[int], started: bool, bidirectional: bool):
    model = make(bidirectional, attention_size)
    inputs, mask = batch(LENGTHS, 5, D, seed=1)
    states = torch.randn(2, len(LENGTHS), model.output_size, dtype=torch.float64)
    found = model.read(inputs, mask, tuple(states) if started else None)
    over_tokens = found.attention[0] if bidirectional else found.attention
    for row, length in enumerate(LENGTHS):
        sentence = inputs[row, :length]
        start = tuple(states[:, row, :H]) if started else None
        expected = read_as_in_the_paper(model, sentence, "", start)
        check_states(found.hidden[row, :, :H], expected.hidden)
        check_states(found.cell[row, :, :H], expected.cell)
        weights = torch.zeros(5, 5, dtype=torch.float64)
        for t, s in enumerate(expected.attention):
            weights[t, :t] = s
        assert_same(over_tokens[row], weights)
        if bidirectional:
            start = tuple(states[:, row, H:]) if started else None
            expected = read_from_right_to_left(model, sentence, start)
            check_states(found.hidden[row, :, H:], expected.hidden)
            check_states(found.cell[row, :, H:], expected.cell)
            weights = torch.zeros(5, 5, dtype=torch.float64)
            for t, s in enumerate(expected.attention):
                weights[t, t + 1 : length] = s
            assert_same(found.attention[1][row], weights)


def check_states(found: torch.Tensor, expected: list[torch.Tensor]) -> None:
    """The states of a sentence's tokens, then zeros."""
    for state, expected_state in zip(found, expected):
        assert_same(state, expected_state)
    assert not found[len(expected) :].any()


@by_both_backends
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("attention_size", [None, A])
def test_a_call_returns_the_hidden_tape(attention_size: Optional[int], bidirectional: bool):
    model = make(bidirectional, attention_size)
    inputs, mask = batch(LENGTHS, 5, D, seed=1)
    tapes = model.read(inputs, mask)
    outputs, attention = model(inputs, mask, return_attention=True)
    assert_same(outputs, tapes.hidden)
    torch.testing.assert_close(attention, tapes.attention, rtol=0, atol=1e-9)


@by_both_backends
def test_a_batch_of_no_steps():
    model = make(bidirectional=True)
    inputs = torch.empty(2, 0, D, dtype=torch.float64)
    mask = torch.empty(2, 0, dtype=torch.bool)
    outputs, attention = model(inputs, mask, return_attention=True)
    assert outputs.shape == (2, 0, 2 * H)
    assert [weights.shape for weights in attention] == [(2, 0, 0), (2, 0, 0)]


@pytest.mark.parametrize("name", ["hidden state", "cell"])
@pytest.mark.parametrize(
    "wrong",
    [
        (slice(None), slice(1)),
        (slice(1), slice(None)),
    ],
    ids=str,
)
def test_initial_states_of_other_shapes_are_refused(name: str, wrong: tuple[slice, slice]):
    inputs, mask = batch(LENGTHS, 5, D, seed=1)
    states = {name: inputs.new_zeros(len(inputs), H) for name in ("hidden state", "cell")}
    states[name] = states[name][wrong]
    expected = rf"the {name} before the first step must have .* \({len(inputs)}, {H}\), got"
    with pytest.raises(ValueError, match=expected):
        make().read(inputs, mask, tuple(states.values()))
