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
    """h and c of `torch.nn.LSTM`."""
    i, f, g, o = (w_ih @ x + w_hh @ h + bias).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def read_network(network: torch.nn.RNNBase, sentence: Tensor) -> Tensor:
    """The states (N, S, 2 or 1, H) of S directions of a one-layer LSTM (h and c) or GRU."""
    directions = []
    for suffix in ("", "_reverse")[: 1 + network.bidirectional]:
        w_ih, w_hh, b_ih, b_hh = (
            getattr(network, f"{name}_l0{suffix}")
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        h = c = sentence.new_zeros(network.hidden_size)
        states = []
        for x in sentence.flip(0) if suffix else sentence:
            if isinstance(network, torch.nn.LSTM):
                h, c = lstm_step(x, h, c, w_ih, w_hh, b_ih + b_hh)
                states.append(torch.stack([h, c]))
            else:
                h = gru_step(x, h, w_ih, w_hh, b_ih, b_hh)
                states.append(h.unsqueeze(0))
        directions.append(torch.stack(states[::-1] if suffix else states))
    return torch.stack(directions, 1)


def assert_same(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=1e-9)


def additive_attention(vector: Tensor, keys: list[Tensor], values: Tensor) -> tuple[Tensor, Tensor]:
    """sum_j a_j x_j and a = softmax_j(v . tanh(k_j)), zero without any j."""
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
    """Random tokens (B, num_tokens, size) and their mask; `padding` is by default random, too."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(len(lengths), num_tokens, size, dtype=torch.float64, generator=generator)
    mask = torch.arange(num_tokens) < torch.tensor(lengths).unsqueeze(1)
    return inputs if padding is None else inputs.masked_fill(~mask.unsqueeze(-1), padding), mask
