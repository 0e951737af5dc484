"""The fused optimizers against torch's plain ones."""

import copy

import pytest
import torch
from allennlp.common import Params
from allennlp.training.optimizers import Optimizer

import allennlp_sentmatch  # noqa: F401  (registers the optimizers)

of_both = pytest.mark.parametrize(
    ("name", "plain_class"), [("fused_adam", torch.optim.Adam), ("fused_adamw", torch.optim.AdamW)]
)


@of_both
@pytest.mark.parametrize("amsgrad", [False, True])
def test_the_updates_of_the_plain_optimizer(name, plain_class, amsgrad):
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3).double()
    expected = copy.deepcopy(model)
    settings = {"betas": [0.8, 0.95], "eps": 1e-6, "amsgrad": amsgrad}
    groups = {"parameter_groups": [[["bias"], {"weight_decay": 0.0, "lr": 0.05}]]}
    optimizer = Optimizer.from_params(
        Params({"type": name, "lr": 0.02, "weight_decay": 0.1, **settings, **groups}),
        model_parameters=list(model.named_parameters()),
    )
    plain = plain_class(
        [
            {"params": [expected.bias], "weight_decay": 0.0, "lr": 0.05},
            {"params": [expected.weight], "weight_decay": 0.1, "lr": 0.02},
        ],
        **settings,
    )
    for _ in range(5):
        inputs = torch.randn(4, 5, dtype=torch.float64)
        for network, step in ((model, optimizer), (expected, plain)):
            step.zero_grad()
            network(inputs).square().sum().backward()
            step.step()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter, dict(expected.named_parameters())[name])


@of_both
def test_it_is_fused_where_torch_can(name, plain_class):
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = Optimizer.from_params(Params({"type": name}), model_parameters=[("weight", weight)])
    try:
        plain_class([weight], fused=True)
    except (TypeError, RuntimeError):
        assert not optimizer.param_groups[0].get("fused")
    else:
        assert optimizer.param_groups[0]["fused"]
