"""Two LSTMs against torch.nn.LSTMCell and the report's equations 1-6, one token at a time."""

import pytest
import torch

from allennlp_sentmatch.nn import LSTMPair
from tests.nn.pairs import (
    HYPOTHESIS_LENGTHS,
    PREMISE_LENGTHS,
    D,
    H,
    assert_same,
    by_both_backends,
    pairs,
)


def make() -> LSTMPair:
    torch.manual_seed(0)
    model = LSTMPair(D, H).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model


def by_torch(
    lstm: torch.nn.LSTM, sentence: torch.Tensor, h: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """h and c after the last token of a sentence (N, D)."""
    cell = torch.nn.LSTMCell(D, H).double()
    cell.load_state_dict({name[: -len("_l0")]: x for name, x in lstm.state_dict().items()})
    for x in sentence:
        h, c = cell(x, (h, c))
    return h, c


def by_equations(
    lstm: torch.nn.LSTM, sentence: torch.Tensor, h: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same by the report's equations, each W being of [h, x]."""
    W = torch.cat([lstm.weight_hh_l0, lstm.weight_ih_l0], 1).split(H)
    b = (lstm.bias_ih_l0 + lstm.bias_hh_l0).split(H)
    for x in sentence:
        h_and_x = torch.cat([h, x])
        i, f, C_hat, o = (weight @ h_and_x + bias for weight, bias in zip(W, b))
        c = f.sigmoid() * c + i.sigmoid() * C_hat.tanh()  # (1)-(4)
        h = o.sigmoid() * c.tanh()  # (5), (6)
    return h, c


@by_both_backends
@pytest.mark.parametrize("read", [by_torch, by_equations])
def test_the_second_lstm_continues_where_the_first_one_ended(read):
    model = make()
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    assert attention == (None, None, None)
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        last = read(model.premise_reader, premises[row, :M], zero, zero)
        h_N, _ = read(model.hypothesis_reader, hypotheses[row, :N], *last)
        assert_same(outputs[row], h_N if N else zero)
