"""RCRN against the paper's equations, read one token at a time."""

import pytest
import torch

from allennlp_sentmatch.nn import RecurrentlyControlledRNN
from tests.nn.equations import assert_same, batch, read_network

CELLS = ["lstm", "gru"]
GATES = ["sigmoid", "identity"]


@pytest.mark.usefixtures("both_backends")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("output_gate", GATES)
def test_follows_the_equations(cell, bidirectional, output_gate):
    torch.manual_seed(0)
    encoder = RecurrentlyControlledRNN(3, 4, cell, bidirectional, output_gate).double()
    lengths = [5, 3, 1]
    inputs, mask = batch(lengths, 5, 3, seed=1)
    outputs = encoder(inputs, mask)
    assert outputs.shape == (3, 5, encoder.output_size)
    assert encoder.output_size == (8 if bidirectional else 4)

    for sentence, length in enumerate(lengths):
        h1, h2, h3 = (
            read_network(network, inputs[sentence, :length])[:, :, 0].flatten(1)
            for network in (encoder.forget_controller, encoder.output_controller, encoder.listener)
        )
        c4 = torch.zeros(encoder.output_size, dtype=torch.float64)
        for t in range(length):
            c4 = torch.sigmoid(h1[t]) * c4 + (1 - torch.sigmoid(h1[t])) * h3[t]  # (15)
            gate = torch.sigmoid(h2[t]) if output_gate == "sigmoid" else h2[t]
            assert_same(outputs[sentence, t], gate * c4)  # (16)
