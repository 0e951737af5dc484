import pytest
import torch
from torch import nn

from allennlp_sentmatch.nn.parameter_norm import parameter_norm


@pytest.fixture
def module() -> nn.Module:
    """A module with a norm of 13, of which one part is frozen and another is zero."""
    made = nn.ModuleDict({"a": nn.Linear(2, 1), "b": nn.Linear(1, 1), "frozen": nn.Linear(9, 9)})
    made["frozen"].requires_grad_(False)
    values = {"a.weight": [[3.0, 4.0]], "a.bias": [0.0], "b.weight": [[12.0]], "b.bias": [0.0]}
    made.load_state_dict({k: torch.tensor(v) for k, v in values.items()}, strict=False)
    return made.double()


def test_all_parameters_that_are_trained_count_together(module):
    assert parameter_norm(module).item() == pytest.approx(13, abs=1e-12)


def test_the_gradient_has_length_one(module):
    parameter_norm(module).backward()
    for parameter in (module["a"].weight, module["a"].bias, module["b"].weight, module["b"].bias):
        torch.testing.assert_close(parameter.grad, parameter.detach() / 13)
    assert module["frozen"].weight.grad is None


def test_of_zeros_and_of_nothing():
    zeros = nn.Linear(2, 2)
    for parameter in zeros.parameters():
        nn.init.zeros_(parameter)
    parameter_norm(zeros).backward()
    assert not zeros.weight.grad.any()
    assert parameter_norm(zeros.requires_grad_(False)).item() == 0
