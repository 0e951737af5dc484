import pytest
import torch

from allennlp_sentmatch.nn import StateBridge


def test_equal_sizes_pass_the_states_on():
    bridge = StateBridge(4, 4, 2, has_states=True)
    states = torch.randn(2, 3, 2, 4)
    start = bridge(torch.randn(3, 4), (states[0], states[1]))
    assert torch.equal(start.hidden, states[0])
    assert torch.equal(start.cell, states[1])
    assert not list(bridge.parameters())


def test_other_sizes_take_a_linear_layer_for_each_state():
    torch.manual_seed(0)
    bridge = StateBridge(4, 3, 2, has_states=True)
    states = torch.randn(2, 5, 2, 4)
    start = bridge(torch.randn(5, 4), (states[0], states[1]))
    for k in range(2):
        hidden = states[0][:, k] @ bridge.hidden[k].weight.T + bridge.hidden[k].bias
        cell = states[1][:, k] @ bridge.cell[k].weight.T + bridge.cell[k].bias
        torch.testing.assert_close(start.hidden[:, k], hidden)
        torch.testing.assert_close(start.cell[:, k], cell)


def test_without_states_the_last_output_starts_every_layer():
    torch.manual_seed(0)
    bridge = StateBridge(4, 3, 2, has_states=False)
    last = torch.randn(5, 4)
    start = bridge(last)
    for k in range(2):
        hidden = torch.tanh(last @ bridge.hidden[k].weight.T + bridge.hidden[k].bias)
        cell = last @ bridge.cell[k].weight.T + bridge.cell[k].bias
        torch.testing.assert_close(start.hidden[:, k], hidden)
        torch.testing.assert_close(start.cell[:, k], cell)


@pytest.mark.parametrize("setting", ["encoder_size", "decoder_size", "num_layers"])
def test_sizes_must_be_positive(setting: str):
    sizes = {"encoder_size": 4, "decoder_size": 4, "num_layers": 2, setting: 0}
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        StateBridge(**sizes, has_states=True)


def test_missing_states_are_named():
    with pytest.raises(ValueError, match=r"states are missing.* has_states=False"):
        StateBridge(4, 4, 2, has_states=True)(torch.zeros(3, 4))
