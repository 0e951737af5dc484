"""The fused optimizers against torch's plain ones."""

import copy
import json
import logging

import _jsonnet
import pytest
import torch
from allennlp.common import Params
from allennlp.training.optimizers import Optimizer

from allennlp_sentmatch.training.optimizers import forgotten_layers
from tests.conftest import REPOSITORY

of_both = pytest.mark.parametrize(
    ("name", "plain_class"), [("fused_adam", torch.optim.Adam), ("fused_adamw", torch.optim.AdamW)]
)


@of_both
@pytest.mark.parametrize("amsgrad", [False, True])
def test_the_updates_of_the_plain_optimizer(name, plain_class, amsgrad):
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3).double()
    expected = copy.deepcopy(model)
    settings = {
        "betas": [0.8, 0.95],
        "eps": 1e-6,
        "amsgrad": amsgrad,
    }
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


class Transformer(torch.nn.Module):
    """The names of the parameters of a transformer in AllenNLP, with a head."""

    def __init__(self, num_layers):
        super().__init__()
        bert = torch.nn.Module()
        bert.encoder = torch.nn.Module()
        bert.encoder.layer = torch.nn.ModuleList(torch.nn.Linear(1, 1) for _ in range(num_layers))
        bert.pooler = torch.nn.Linear(1, 1)
        self.transformer_model = bert
        self._classifier = torch.nn.Linear(1, 1)


def warnings_of(num_layers, groups, caplog):
    caplog.clear()
    parameters = list(Transformer(num_layers).named_parameters())
    settings = {
        "type": "fused_adamw",
        "lr": 0.1,
        "parameter_groups": groups,
    }
    with caplog.at_level(logging.WARNING):
        Optimizer.from_params(Params(settings), model_parameters=parameters)
    return [x.getMessage() for x in caplog.records if "no parameter group" in x.getMessage()]


def test_layers_that_the_number_of_layers_leaves_out(caplog):
    """The groups of `minilm*`, if `num_layers` is not set for a transformer of twelve layers."""
    lib = REPOSITORY / "training_config/lib/transformer.libsonnet"
    recipe = f"(import '{lib}').fine_tuning(num_epochs=1, lr=1, head_lr=1, num_layers=6).optimizer"
    groups = json.loads(_jsonnet.evaluate_snippet("recipe", recipe))["parameter_groups"]
    (warning,) = warnings_of(12, groups, caplog)
    assert warning.startswith("12 parameters of layers are in no parameter group")  # 6 layers of 2
    assert "encoder.layer.6.weight to transformer_model.encoder.layer.11.bias" in warning
    assert warnings_of(6, groups, caplog) == []


@pytest.mark.parametrize(
    ("groups", "forgotten"),
    [
        ([], []),
        ([[[r"layer\.2\."], {"lr": 1}]], []),  # a rate for the last layer
        ([[[r"layer\.0\."], {"requires_grad": False}]], []),
        ([[["layer"], {"lr": 1}]], []),
        ([[[r"layer\.[01]\."], {"lr": 1}]], ["encoder.layer.2.weight", "encoder.layer.2.bias"]),
        (
            [[[r"layer\.0\."], {"lr": 1}], [[r"r\.2"], {"requires_grad": False}]],
            ["encoder.layer.1.weight", "encoder.layer.1.bias"],
        ),
    ],
)
def test_forgotten_layers(groups, forgotten):
    names = [f"encoder.layer.{k}.{x}" for k in range(3) for x in ("weight", "bias")]
    assert forgotten_layers([*names, "encoder.weight", "head.0.weight"], groups) == forgotten
