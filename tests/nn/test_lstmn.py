"""The LSTMN against equations 8-13 of the report, one token at a time."""

from typing import Optional

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


def read_as_in_the_paper(
    model: LSTMN, sentence: torch.Tensor, suffix: str = "", start: Optional[State] = None
) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
    """h_t, c_t and s^t of one sentence (N, D), in the order of reading."""
    weights = {
        name[: len(name) - len(suffix)]: value
        for name, value in model.state_dict().items()
        if name.endswith("_reverse") == bool(suffix)
    }
    zero = torch.zeros(H, dtype=torch.float64)
    tilde_h, tilde_c = start if start is not None else (zero, zero)
    hs: list[torch.Tensor] = []
    cs: list[torch.Tensor] = []
    attention: list[torch.Tensor] = []
    for x in sentence:
        if hs:
            query = weights["attention_input"] @ x + weights["attention_previous"] @ tilde_h
            keys = [weights["attention_hidden"] @ h + query for h in hs]
            tapes = torch.cat([torch.stack(hs), torch.stack(cs)], 1)
            summary, s = additive_attention(weights["attention_vector"], keys, tapes)  # (8)-(10)
            tilde_h, tilde_c = summary.split(H)
            attention.append(s)
        else:
            attention.append(zero[:0])
        gates = (
            weights["weight_ih_l0"] @ x + weights["weight_hh_l0"] @ tilde_h + weights["bias_l0"]
        )  # (11)
        i, f, o = (torch.sigmoid(gates[k * H : (k + 1) * H]) for k in (0, 1, 3))
        hat_c = torch.tanh(gates[2 * H : 3 * H])
        c = f * tilde_c + i * hat_c  # (12)
        hs.append(o * torch.tanh(c))  # (13)
        cs.append(c)
    return hs, cs, attention


@by_both_backends
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("attention_size", [None, A])
def test_equations(attention_size: Optional[int], started: bool, bidirectional: bool):
    model = make(bidirectional, attention_size)
    inputs, mask = batch(LENGTHS, 5, D, seed=1)
    start = torch.randn(2, len(LENGTHS), model.output_size, dtype=torch.float64)
    tapes = model.read(inputs, mask, tuple(start) if started else None)
    for row, length in enumerate(LENGTHS):
        for direction in range(1 + bidirectional):
            order = slice(None, None, -1) if direction else slice(None)
            part = slice(direction * H, (direction + 1) * H)
            states = read_as_in_the_paper(
                model,
                inputs[row, :length].flip(0) if direction else inputs[row, :length],
                "_reverse" if direction else "",
                tuple(start[:, row, part]) if started else None,
            )
            hs, cs, attention = (steps[order] for steps in states)
            expected = torch.zeros(5, 5, dtype=torch.float64)
            for t in range(length):
                assert_same(tapes.hidden[row, t, part], hs[t])
                assert_same(tapes.cell[row, t, part], cs[t])
                if direction:
                    expected[t, t + 1 : length] = attention[t].flip(0)
                else:
                    expected[t, :t] = attention[t]
            assert_same(
                (tapes.attention[direction] if bidirectional else tapes.attention)[row], expected
            )
        assert not tapes.hidden[row, length:].any()
        assert not tapes.cell[row, length:].any()
    if not started:
        outputs, attention = model(inputs, mask, return_attention=True)
        assert_same(outputs, tapes.hidden)
        torch.testing.assert_close(
            attention,
            tapes.attention,
            rtol=0,
            atol=1e-9,
        )


@by_both_backends
def test_a_batch_of_no_steps():
    model = make(bidirectional=True)
    outputs, attention = model(
        torch.empty(2, 0, D).double(), torch.empty(2, 0, dtype=torch.bool), return_attention=True
    )
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
    expected = rf"the {name} of initial_state must have .* \({len(inputs)}, {H}\), got"
    with pytest.raises(ValueError, match=expected):
        make().read(inputs, mask, tuple(states.values()))
