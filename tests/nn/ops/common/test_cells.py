"""The cells against torch's own."""

import pytest
import torch
import torch.nn.functional as F

from allennlp_sentmatch.nn.ops.common.cells import gru_cell, lstm_cell

D, H = 3, 4


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_an_lstm_is_torch_s():
    torch_cell = torch.nn.LSTMCell(D, H).double()
    x, hidden, cell = (torch.randn(5, size, dtype=torch.float64) for size in (D, H, H))
    actual = lstm_cell(
        F.linear(x, torch_cell.weight_ih, torch_cell.bias_ih),
        F.linear(hidden, torch_cell.weight_hh, torch_cell.bias_hh),
        cell,
    )
    torch.testing.assert_close(actual, torch_cell(x, (hidden, cell)), rtol=0, atol=1e-12)


def test_a_gru_is_torch_s():
    torch_cell = torch.nn.GRUCell(D, H).double()
    x, hidden = (torch.randn(5, size, dtype=torch.float64) for size in (D, H))
    actual = gru_cell(
        F.linear(x, torch_cell.weight_ih, torch_cell.bias_ih),
        F.linear(hidden, torch_cell.weight_hh, torch_cell.bias_hh),
        hidden,
    )
    torch.testing.assert_close(actual, torch_cell(x, hidden), rtol=0, atol=1e-12)
