"""Means of an LSTM's states over sentences of words from a table."""

import pytest
import torch

from allennlp_sentmatch.nn.mean_states import MeanStates, PackedWords
from allennlp_sentmatch.nn.ops.backends import COMPILED, use_backend
from tests.nn import equations

D = 5
H = 6
SENTENCES = [[1, 0, 1, 2, 3], [3, 3, 3], [0, 2, 1], [2], [0]]

needs_compiled = pytest.mark.skipif(not COMPILED, reason="the steps are not compiled")


def lstm(dtype=torch.float64, **settings):
    torch.manual_seed(0)
    return torch.nn.LSTM(D, H, batch_first=True, **settings).to(dtype)


def vectors(dtype=torch.float64):
    return torch.randn(4, D, generator=torch.Generator().manual_seed(1)).to(dtype)


@needs_compiled
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("count", [1, 20])
def test_they_are_those_of_the_equations(bidirectional, count):
    """Test few sentences, and more than the limit for unpacked weights."""
    network = lstm(bidirectional=bidirectional)
    table = vectors()
    sentences = [sentence for sentence in SENTENCES for _ in range(count)]
    with torch.no_grad():
        means = MeanStates.of(network, table)(PackedWords.of(sentences))
        for row, sentence in zip(means, sentences):
            states = equations.read_network(network, table[sentence])  # (N, S, 2, H)
            torch.testing.assert_close(row, states[:, :, 0].mean(0).flatten())


@needs_compiled
def test_a_network_without_biases_in_float32():
    network = lstm(torch.float32, bias=False)
    table = vectors(torch.float32)
    with torch.no_grad():
        means = MeanStates.of(network, table)(PackedWords.of(SENTENCES))
        for row, sentence in zip(means, SENTENCES):
            expected = network(table[sentence][None])[0][0].mean(0)
            torch.testing.assert_close(row, expected, atol=1e-6, rtol=0)


class Narrowed(torch.nn.LSTM):
    """An LSTM subclass, which may compute something else."""


def hooked():
    network = lstm()
    network.register_forward_hook(lambda *_: None)
    return network


@pytest.mark.parametrize(
    "network",
    [
        lstm(num_layers=2),
        lstm(proj_size=3),
        Narrowed(D, H).double(),
        torch.nn.GRU(D, H).double(),
        lstm(torch.bfloat16),
        lstm(torch.float32),
        hooked(),
    ],
    ids=["layers", "projection", "subclass", "GRU", "bfloat16", "other precision", "hook"],
)
def test_other_networks_are_called(network):
    with torch.no_grad():
        assert MeanStates.of(network, vectors()) is None


def test_gradients_and_a_chosen_backend_need_a_call():
    assert MeanStates.of(lstm(), vectors()) is None
    with torch.no_grad(), use_backend("naive"):
        assert MeanStates.of(lstm(), vectors()) is None
