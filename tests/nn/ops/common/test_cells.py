"""The cells against torch's own."""

import pytest
import torch
import torch.nn.functional as F

from allennlp_sentmatch.nn.ops.common.cells import gru_cell, lstm_cell


@pytest.mark.parametrize("kind", [torch.nn.LSTMCell, torch.nn.GRUCell])
def test_a_cell_is_torch_s(kind):
    torch.manual_seed(0)
    expected = kind(3, 4).double()
    inputs, hidden, cell = (torch.randn(5, size, dtype=torch.float64) for size in (3, 4, 4))
    x = F.linear(inputs, expected.weight_ih, expected.bias_ih)
    u = F.linear(hidden, expected.weight_hh, expected.bias_hh)
    if kind is torch.nn.LSTMCell:
        actual, wanted = lstm_cell(x, u, cell), expected(inputs, (hidden, cell))
    else:
        actual, wanted = gru_cell(x, u, hidden), expected(inputs, hidden)
    torch.testing.assert_close(actual, wanted, rtol=0, atol=1e-12)
