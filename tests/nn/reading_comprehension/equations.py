"""Pieces of R-NET's equations, one token at a time, for tests."""

import torch
from torch import Tensor


def normal(module: torch.nn.Module) -> torch.nn.Module:
    """Set parameters far from zero, so that attention is far from even; in float64."""
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module.double()


def softmax(scores: list[Tensor]) -> Tensor:
    exponentials = torch.stack(scores).exp()
    return exponentials / exponentials.sum()


def gru_step(x: Tensor, h: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor):
    """As torch's documentation of `torch.nn.GRU` has it."""
    W_ir, W_iz, W_in = w_ih.chunk(3)
    W_hr, W_hz, W_hn = w_hh.chunk(3)
    b_ir, b_iz, b_in = b_ih.chunk(3)
    b_hr, b_hz, b_hn = b_hh.chunk(3)
    r = torch.sigmoid(W_ir @ x + b_ir + W_hr @ h + b_hr)
    z = torch.sigmoid(W_iz @ x + b_iz + W_hz @ h + b_hz)
    n = torch.tanh(W_in @ x + b_in + r * (W_hn @ h + b_hn))
    return (1 - z) * n + z * h


def assert_same(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=1e-9)


def batch(lengths: list[int], num_tokens: int, size: int, seed: int) -> tuple[Tensor, Tensor]:
    """Random tokens (B, num_tokens, size) and their mask."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(len(lengths), num_tokens, size, dtype=torch.float64, generator=generator)
    return inputs, torch.arange(num_tokens) < torch.tensor(lengths).unsqueeze(1)
