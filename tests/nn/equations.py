"""Inputs and pieces of the papers' equations, one token at a time, for tests."""

from collections.abc import Sequence
from typing import Optional

import torch
from torch import Tensor


def normal(module: torch.nn.Module) -> torch.nn.Module:
    """Set parameters far from zero, in float64, so that attention is far from uniform."""
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module.double()


def softmax(scores: list[Tensor]) -> Tensor:
    exponentials = torch.stack(scores).exp()
    return exponentials / exponentials.sum()


def gru_step(x: Tensor, h: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor):
    """A step of a GRU, as in the documentation of `torch.nn.GRU`."""
    W_ir, W_iz, W_in = w_ih.chunk(3)
    W_hr, W_hz, W_hn = w_hh.chunk(3)
    b_ir, b_iz, b_in = b_ih.chunk(3)
    b_hr, b_hz, b_hn = b_hh.chunk(3)
    r = torch.sigmoid(W_ir @ x + b_ir + W_hr @ h + b_hr)
    z = torch.sigmoid(W_iz @ x + b_iz + W_hz @ h + b_hz)
    n = torch.tanh(W_in @ x + b_in + r * (W_hn @ h + b_hn))
    return (1 - z) * n + z * h


def lstm_step(x: Tensor, h: Tensor, c: Tensor, w_ih: Tensor, w_hh: Tensor, bias: Tensor):
    """Return h and c of `torch.nn.LSTM`."""
    i, f, g, o = (w_ih @ x + w_hh @ h + bias).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def read_direction(network: torch.nn.RNNBase, sentence: Tensor, suffix: str) -> Tensor:
    """Return the states (N, 2 or 1, H) of a direction that reads a sentence from left to right."""
    w_ih = getattr(network, f"weight_ih_l0{suffix}")
    w_hh = getattr(network, f"weight_hh_l0{suffix}")
    b_ih = getattr(network, f"bias_ih_l0{suffix}")
    b_hh = getattr(network, f"bias_hh_l0{suffix}")
    h = sentence.new_zeros(network.hidden_size)
    c = sentence.new_zeros(network.hidden_size)
    states = []
    for x in sentence:
        if isinstance(network, torch.nn.LSTM):
            h, c = lstm_step(x, h, c, w_ih, w_hh, b_ih + b_hh)
            states.append(torch.stack([h, c]))
        else:
            h = gru_step(x, h, w_ih, w_hh, b_ih, b_hh)
            states.append(h.unsqueeze(0))
    return torch.stack(states)


def read_network(network: torch.nn.RNNBase, sentence: Tensor) -> Tensor:
    """Return the states (N, S, 2 or 1, H) of S directions of a one-layer LSTM (h, c) or GRU."""
    directions = [read_direction(network, sentence, "")]
    if network.bidirectional:
        from_right_to_left = read_direction(network, sentence.flip(0), "_reverse")
        directions.append(from_right_to_left.flip(0))
    return torch.stack(directions, 1)


def assert_same(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=1e-9)


def additive_attention(vector: Tensor, keys: list[Tensor], values: Tensor) -> tuple[Tensor, Tensor]:
    """Return sum_j a_j x_j and a = softmax_j(v . tanh(k_j)), zero without any j."""
    if not keys:
        return values.new_zeros(values.size(1)), values.new_zeros(0)
    a = softmax([vector @ torch.tanh(key) for key in keys])
    return sum(weight * x for weight, x in zip(a, values)), a


def batch(
    lengths: Sequence[int],
    num_tokens: int,
    size: int,
    seed: int = 1,
    padding: Optional[float] = None,
) -> tuple[Tensor, Tensor]:
    """Return random tokens (B, num_tokens, size) and their mask.

    `padding` is by default random, too.
    """
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(
        len(lengths),
        num_tokens,
        size,
        dtype=torch.float64,
        generator=generator,
    )
    mask = torch.arange(num_tokens) < torch.tensor(lengths).unsqueeze(1)
    if padding is not None:
        inputs = inputs.masked_fill(~mask.unsqueeze(-1), padding)
    return inputs, mask
