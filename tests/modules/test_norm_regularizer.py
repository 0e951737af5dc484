import math

import pytest
import torch
from allennlp.common import FromParams, Params
from allennlp.common.checks import ConfigurationError
from torch import nn

from allennlp_sentmatch.modules.norm_regularizer import ModelRegularizer, NormRegularizer


def module() -> nn.Module:
    """A module with a norm of 13, of which one part is frozen and another is zero."""
    made = nn.ModuleDict({"a": nn.Linear(2, 1), "b": nn.Linear(1, 1), "frozen": nn.Linear(9, 9)})
    made["frozen"].requires_grad_(False)
    values = {"a.weight": [[3.0, 4.0]], "a.bias": [0.0], "b.weight": [[12.0]], "b.bias": [0.0]}
    made.load_state_dict({k: torch.tensor(v) for k, v in values.items()}, strict=False)
    return made.double()


def test_the_penalty_is_the_norm_of_all_parameters_that_are_trained():
    assert NormRegularizer(0.5)(module()).item() == pytest.approx(6.5, abs=1e-12)


def test_the_gradient_has_the_length_of_the_weight():
    made = module()
    NormRegularizer(0.5)(made).backward()
    for parameter in (made["a"].weight, made["a"].bias, made["b"].weight, made["b"].bias):
        torch.testing.assert_close(parameter.grad, 0.5 * parameter.detach() / 13)
    assert made["frozen"].weight.grad is None


def test_of_zeros_and_of_nothing():
    zeros = nn.Linear(2, 2)
    for parameter in zeros.parameters():
        nn.init.zeros_(parameter)
    NormRegularizer(0.5)(zeros).backward()
    assert not zeros.weight.grad.any()
    assert NormRegularizer(0.5)(zeros.requires_grad_(False)).item() == 0


@pytest.mark.parametrize("weight", [0, -1.0, math.nan])
def test_the_weight_must_be_positive(weight):
    with pytest.raises(ConfigurationError, match="norm_weight must be above 0"):
        NormRegularizer(weight)


class Holder(FromParams):
    def __init__(self, regularizer: ModelRegularizer = None) -> None:
        self.regularizer = regularizer


@pytest.mark.parametrize(
    ("settings", "penalty"),
    [
        ({"norm_weight": 0.5}, 6.5),
        ({"regexes": [[".*", {"type": "l2", "alpha": 0.5}]]}, 84.5),
        ({"regexes": [["^a", "l1"]]}, 0.07),
    ],
)
def test_a_configuration_has_the_norm_or_penalties_of_parameters(settings, penalty):
    regularizer = Holder.from_params(Params({"regularizer": settings})).regularizer
    assert regularizer(module()).item() == pytest.approx(penalty, abs=1e-12)


def test_an_unknown_setting_is_an_error():
    with pytest.raises(ConfigurationError, match="regularizer"):
        Holder.from_params(Params({"regularizer": {"weight": 0.5}}))
