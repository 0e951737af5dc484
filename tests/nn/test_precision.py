import pytest
import torch

from allennlp_sentmatch.nn.precision import at_least_float32


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_half_precision_is_widened(given: torch.dtype, expected: torch.dtype):
    x = at_least_float32(torch.tensor([0.5, -3.0], dtype=given))
    assert x.dtype == expected
    assert x.tolist() == [0.5, -3.0]
