"""The regularizer adds the norm of all parameters to AllenNLP's penalties."""

import math

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from torch import nn

from allennlp_sentmatch.modules import ModelRegularizer


@pytest.mark.parametrize(
    ("settings", "penalty"),
    [
        ({"norm_weight": 0.5}, 6.5),
        ({"regexes": [[".*", {"type": "l2", "alpha": 0.5}]]}, 84.5),
        ({"regexes": [["weight", "l1"]], "norm_weight": 0.5}, 0.07 + 6.5),
        ({}, 0),
    ],
)
def test_the_penalty_has_the_norm_and_the_penalties_of_parameters(settings, penalty):
    module = nn.Linear(2, 1).double()
    module.load_state_dict({"weight": torch.tensor([[3.0, 4.0]]), "bias": torch.tensor([12.0])})
    regularizer = ModelRegularizer.from_params(Params(settings))
    assert torch.as_tensor(regularizer(module)).item() == pytest.approx(penalty, abs=1e-12)


def test_the_gradient_of_the_norm_has_length_one_and_frozen_parameters_have_none():
    module = nn.Sequential(nn.Linear(2, 1), nn.Linear(9, 9).requires_grad_(False))
    module[0].load_state_dict({"weight": torch.tensor([[3.0, 4.0]]), "bias": torch.tensor([12.0])})
    ModelRegularizer(norm_weight=0.5)(module).backward()
    for parameter in module[0].parameters():
        torch.testing.assert_close(parameter.grad, parameter.detach() / 26)


def test_the_norm_of_zeros_and_of_nothing():
    zeros = nn.Linear(2, 2)
    nn.utils.vector_to_parameters(torch.zeros(6), zeros.parameters())
    regularizer = ModelRegularizer(norm_weight=0.5)
    regularizer(zeros).backward()
    assert not zeros.weight.grad.any()
    assert regularizer(zeros.requires_grad_(False)) == 0


@pytest.mark.parametrize("weight", [-1.0, math.nan])
def test_the_weight_must_not_be_negative(weight):
    with pytest.raises(ConfigurationError, match="norm_weight must be a number of at least 0"):
        ModelRegularizer(norm_weight=weight)
