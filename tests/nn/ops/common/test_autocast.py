"""Autocast in recurrences; test_encoder_contracts.py tests whole encoders."""

import torch

from allennlp_sentmatch.nn.ops.common.autocast import without_autocast


def test_products_keep_their_precision_without_autocast():
    x = torch.randn(2, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with without_autocast(x.device):
            assert (x @ x.t()).dtype == torch.float32
        assert (x @ x.t()).dtype == torch.bfloat16
    with without_autocast(torch.device("meta")):  # this device has no autocast
        pass
