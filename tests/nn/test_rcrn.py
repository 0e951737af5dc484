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


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("output_gate", GATES)
def test_gradients(cell, output_gate):
    torch.manual_seed(1)
    encoder = RecurrentlyControlledRNN(2, 2, cell, output_gate=output_gate).double()
    inputs, mask = batch([3, 2], 3, 2, seed=1)
    variables = (inputs.requires_grad_(), *encoder.parameters())  # which gradcheck moves
    assert torch.autograd.gradcheck(lambda inputs, *_: encoder(inputs, mask), variables)


@pytest.mark.parametrize("cell", CELLS)
def test_computes_in_single_precision_under_autocast_on_the_cpu(cell):
    torch.manual_seed(3)
    encoder = RecurrentlyControlledRNN(3, 4, cell)
    inputs, mask = torch.randn(2, 5, 3), torch.ones(2, 5, dtype=torch.bool)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = encoder(inputs, mask)
    torch.testing.assert_close(outputs, encoder(inputs, mask), rtol=0, atol=1e-6)
