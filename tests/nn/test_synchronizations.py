"""How often encoders wait for a GPU, counted on a simulated one."""

from typing import Callable

import pytest
import torch

from allennlp_sentmatch import nn
from tests.simulated_device import NAME, SimulatedDevice

D, H = 4, 3
LENGTHS = [5, 3, 0, 6]

ENCODERS: dict[str, Callable[[], torch.nn.Module]] = {
    "cas_lstm": lambda: nn.CellAwareLSTM(D, H, num_layers=2, bidirectional=True),
    "lstmn": lambda: nn.LSTMN(D, H, bidirectional=True),
    "gumbel_tree_lstm": lambda: nn.GumbelTreeLSTM(D, H),
    "rcrn": lambda: nn.RecurrentlyControlledRNN(D, H),
    "rcrn, gru": lambda: nn.RecurrentlyControlledRNN(D, H, cell="gru"),
    "subilstm": lambda: nn.SuffixBiLSTM(D, H),
    "subilstm, gru": lambda: nn.SuffixBiLSTM(D, H, cell="gru", tied=False),
    "stacked_rnn": lambda: nn.StackedRNN(D, H, num_layers=2, bidirectional=True),
}


@pytest.fixture(params=list(ENCODERS))
def encoder(request) -> torch.nn.Module:
    torch.manual_seed(0)
    return ENCODERS[request.param]()


def test_only_the_lengths_are_waited_for(encoder: torch.nn.Module):
    with SimulatedDevice() as device:
        encoder = encoder.to(NAME)
        inputs = torch.randn(len(LENGTHS), 6, D).to(NAME).requires_grad_()
        mask = (torch.arange(6) < torch.tensor(LENGTHS).unsqueeze(1)).to(NAME)
        device.synchronizations.clear()
        outputs = encoder(inputs, mask)
        assert sum(device.synchronizations.values()) <= 1, device.synchronizations
        device.synchronizations.clear()
        outputs.sum().backward()
        assert not device.synchronizations


def test_nothing_is_waited_for_without_padding(encoder: torch.nn.Module):
    with SimulatedDevice() as device:
        encoder = encoder.to(NAME)
        inputs = torch.randn(4, 6, D).to(NAME).requires_grad_()
        device.refuses_to_wait = True
        encoder(inputs).sum().backward()


@pytest.mark.parametrize("name", ["cas_lstm", "rcrn", "subilstm"])
def test_lengths_are_checked_where_they_are_known(name: str):
    with SimulatedDevice():
        mask = torch.tensor([[True, True, False], [True, False, True]]).to(NAME)
        with pytest.raises(ValueError, match="right-padded, but token 2 of sentence 1 follows"):
            ENCODERS[name]().to(NAME)(torch.randn(2, 3, D).to(NAME), mask)
