"""Autocast in recurrences; test_encoder_contracts.py tests whole encoders."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast


def test_products_keep_their_precision_without_autocast():
    x = torch.randn(2, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with without_autocast(x.device):
            assert (x @ x.t()).dtype == torch.float32
        assert (x @ x.t()).dtype == torch.bfloat16
    with without_autocast(torch.device("meta")):  # this device has no autocast
        pass


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_narrow_inputs_get_the_precision_of_the_parameters_under_autocast(dtype):
    narrow = torch.tensor([0.5, 2.0], dtype=torch.bfloat16)
    parameter = torch.zeros(1, dtype=dtype)
    assert cast_to_parameter(narrow, parameter) is narrow  # an error of torch follows
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = cast_to_parameter(narrow, parameter)
    torch.testing.assert_close(cast, torch.tensor([0.5, 2.0], dtype=dtype), rtol=0, atol=0)
