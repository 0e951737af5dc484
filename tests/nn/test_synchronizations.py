"""Bounds on encoders' launches and waits on a GPU, counted on a simulated one."""

import pytest
import torch

from allennlp_sentmatch import nn
from allennlp_sentmatch.nn.ops.rcrn.recurrence import controlled_recurrence
from tests.simulated_device import NAME, SimulatedDevice

D = 4
H = 3
LENGTHS = [5, 3, 0, 6]

ENCODERS = {
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
        device.refuses_to_wait = True
        outputs.sum().backward()
        encoder(inputs).sum().backward()  # without padding


@pytest.mark.parametrize("name", ["cas_lstm", "rcrn", "subilstm"])
def test_lengths_are_checked_where_they_are_known(name: str):
    with SimulatedDevice():
        mask = torch.tensor([[True, True, False], [True, False, True]]).to(NAME)
        with pytest.raises(ValueError, match="right-padded, but token 2 of sentence 1 follows"):
            ENCODERS[name]().to(NAME)(torch.randn(2, 3, D).to(NAME), mask)


def launches(name: str, num_tokens: int, trained: bool) -> int:
    """The operations of a forward pass or, if `trained`, of a forward and a backward pass."""
    with SimulatedDevice() as device:
        encoder = ENCODERS[name]().to(NAME)
        inputs = torch.randn(4, num_tokens, D).to(NAME).requires_grad_()
        device.launches.clear()
        outputs = encoder(inputs)
        if trained:
            outputs.sum().backward()
        return sum(device.launches.values())


@pytest.mark.parametrize(
    ("name", "forward", "both"),
    [
        ("cas_lstm", 17, 30),
        ("lstmn", 11, 31),
        ("gumbel_tree_lstm", 44, 88),
        ("stacked_rnn", 12, 54),
        ("subilstm", 10, 27.5),
        ("subilstm, gru", 18, 52.5),
        ("rcrn", 19, 83),
    ],
)
def test_launches_of_a_step(name: str, forward: int, both: float):
    """The encoders are bidirectional; nearly all launches of `stacked_rnn` and `rcrn` are
    torch's.
    """
    for trained, most in ((False, forward), (True, both)):
        of_four_steps = launches(name, 8, trained) - launches(name, 4, trained)
        assert of_four_steps <= 4 * most


def test_the_recurrence_of_rcrn_takes_no_launches_for_each_step():
    def run(num_tokens: int) -> int:
        with SimulatedDevice() as device:
            gates = [torch.rand(4, num_tokens, D).to(NAME).requires_grad_() for _ in range(2)]
            device.launches.clear()
            controlled_recurrence(*gates).sum().backward()
            return sum(device.launches.values())

    assert run(64) - run(32) <= 8  # a round for each direction
