import math
from typing import Optional

import pytest
import torch
from allennlp.common import FromParams, Params
from allennlp.common.checks import ConfigurationError
from torch import nn

from allennlp_sentmatch.modules import ModelRegularizer


class Holder(FromParams):
    def __init__(self, regularizer: Optional[ModelRegularizer] = None) -> None:
        self.regularizer = regularizer


def from_settings(settings) -> ModelRegularizer:
    return Holder.from_params(Params({"regularizer": settings})).regularizer


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
    assert torch.as_tensor(from_settings(settings)(module)).item() == pytest.approx(
        penalty, abs=1e-12
    )


@pytest.mark.parametrize("weight", [-1.0, math.nan])
def test_the_weight_must_not_be_negative(weight):
    with pytest.raises(ConfigurationError, match="norm_weight must not be negative"):
        ModelRegularizer(norm_weight=weight)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": 0.5}, "weight"),
        ({"regexes": [[".*", {"type": "l3"}]]}, "l3 not in acceptable choices"),
    ],
)
def test_errors_name_the_wrong_setting(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        from_settings(settings)
