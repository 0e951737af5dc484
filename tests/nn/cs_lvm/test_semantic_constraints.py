import pytest
import torch

from allennlp_sentmatch.nn.cs_lvm import SemanticConstraints


def test_one_constraint_is_added_as_it_is():
    constraints = SemanticConstraints(["z"])
    assert list(constraints.parameters()) == []
    assert constraints({"z": torch.tensor(-3.0)}).item() == -3.0


def test_several_are_weighted_in_their_order():
    constraints = SemanticConstraints(["mu", "y"])
    with torch.no_grad():
        constraints.weighting.log_variances.copy_(torch.tensor([0.0, 2.0]))
    value = constraints({"y": torch.tensor(4.0), "mu": torch.tensor(-1.0)})
    expected = -1.0 + 4.0 * torch.tensor(-2.0).exp().item() + 1.0
    assert value.item() == pytest.approx(expected)


def test_temperature_of_the_thesis():
    constraints = SemanticConstraints(["y"])
    assert constraints.temperature() == 1.0
    constraints.temperature.advance()
    assert constraints.temperature() == pytest.approx(1 - 1e-4)


@pytest.mark.parametrize("names", [[], ["w"], ["y", "y"]])
def test_bad_names(names):
    with pytest.raises(ValueError, match="constraints are"):
        SemanticConstraints(names)


def test_bad_length():
    with pytest.raises(ValueError, match="max_length is 0"):
        SemanticConstraints(["y"], max_length=0)
