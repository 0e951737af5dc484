"""The initializer of gates' biases."""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.nn import Initializer

import allennlp_sentmatch  # noqa: F401  (registers the components)


def make(values):
    return Initializer.from_params(Params({"type": "block_constant", "values": values}))


def test_each_block_has_its_constant():
    bias = torch.nn.Parameter(torch.randn(10))
    make([0.0, 1.0, 0.0, -2.0, 0.5])(bias)
    assert bias.tolist() == [0, 0, 1, 1, 0, 0, -2, -2, 0.5, 0.5]
    assert bias.requires_grad


@pytest.mark.parametrize("values", [[], [0.0, 1.0, 0.0], [1.0] * 12])
def test_rows_that_do_not_divide_into_the_blocks(values):
    with pytest.raises(ConfigurationError, match=rf"divide 10 rows into {len(values)} equal"):
        make(values)(torch.zeros(10))
