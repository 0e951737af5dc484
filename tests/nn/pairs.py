"""A batch of pairs of different lengths, for the tests of readers of pairs."""

import pytest
import torch

D, H, A = 3, 4, 5  # input_size, hidden_size, attention_size
PREMISE_LENGTHS = (5, 1, 3, 0, 2, 4)
HYPOTHESIS_LENGTHS = (2, 4, 1, 3, 0, 4)

by_both_backends = pytest.mark.usefixtures("both_backends")


def pairs() -> list[torch.Tensor]:
    """Premises (6, 6, D), their mask, hypotheses (6, 4, D) and their mask."""
    generator = torch.Generator().manual_seed(1)
    tensors = []
    for lengths, num_tokens in ((PREMISE_LENGTHS, 6), (HYPOTHESIS_LENGTHS, 4)):
        shape = (len(lengths), num_tokens, D)
        tensors.append(torch.randn(shape, dtype=torch.float64, generator=generator))
        tensors.append(torch.arange(num_tokens) < torch.tensor(lengths).unsqueeze(1))
    return tensors


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=1e-9)
