import pytest
import torch

from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast


def test_products_keep_their_precision_without_autocast():
    x = torch.randn(2, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with without_autocast(x.device):
            assert (x @ x.t()).dtype == torch.float32
        assert (x @ x.t()).dtype == torch.bfloat16
    with without_autocast(torch.device("meta")):  # which has no autocast to leave
        pass


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_inputs_are_cast_under_autocast_only(dtype):
    parameter = torch.zeros(1, dtype=dtype)
    narrow = torch.zeros(1, dtype=torch.bfloat16)
    assert cast_to_parameter(narrow, parameter).dtype == torch.bfloat16
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert cast_to_parameter(narrow, parameter).dtype == dtype
        with torch.autocast("cpu", enabled=False):
            assert cast_to_parameter(narrow, parameter).dtype == torch.bfloat16
