"""The classifier against its equations, and invalid arguments."""

import pytest
import torch

from allennlp_sentmatch.nn import MLPClassifier
from allennlp_sentmatch.nn.ops.common.execution import CAN_RECORD
from tests.nn.equations import assert_same, normal


def batch_norm(x, weight, bias, epsilon=1e-5):
    """Ioffe and Szegedy 2015, algorithm 1: over the batch, with the biased variance."""
    mean = x.mean(dim=0)
    variance = ((x - mean) ** 2).mean(dim=0)
    return (x - mean) / (variance + epsilon).sqrt() * weight + bias


ACTIVATIONS = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "linear": torch.nn.Identity(),
}


@pytest.mark.parametrize("between_layers", [True, False])
@pytest.mark.parametrize(
    ("num_layers", "activation"),
    [
        (0, "relu"),
        (1, "relu"),
        (2, "tanh"),
        (3, "linear"),
    ],
)
def test_equations(num_layers, activation, between_layers):
    torch.manual_seed(0)
    classifier = MLPClassifier(
        5,
        3,
        4,
        num_layers,
        activation=activation,
        between_layers=between_layers,
    )
    normal(classifier)
    features = torch.randn(7, 5, dtype=torch.float64)
    weights = classifier.parameters()  # in the order of the equations
    x = batch_norm(features, next(weights), next(weights))
    for layer in range(num_layers):
        x = x @ next(weights).T + next(weights)
        x = ACTIVATIONS[activation](x)
        if between_layers or layer == num_layers - 1:
            x = batch_norm(x, next(weights), next(weights))
    expected = x @ next(weights).T + next(weights)
    assert_same(classifier(features), expected)


@pytest.mark.skipif(not CAN_RECORD, reason="this torch is too old")
def test_exported_for_batches_of_any_size():
    classifier = MLPClassifier(5, 3, hidden_size=4).eval()
    sizes = {0: torch.export.Dim("batch_size")}
    exported = torch.export.export(classifier, (torch.randn(7, 5),), dynamic_shapes=(sizes,))
    features = torch.randn(2, 5)
    torch.testing.assert_close(exported.module()(features), classifier(features))


def test_without_batch_norm_a_row_does_not_see_its_batch():
    classifier = MLPClassifier(5, 3, hidden_size=4, batch_norm=False)
    features = torch.randn(7, 5)
    torch.testing.assert_close(classifier(features)[2:3], classifier(features[2:3]))
    assert not any("running_mean" in name for name in classifier.state_dict())


def test_a_batch_of_one_in_training_is_normalized_by_the_running_averages():
    """The last batch of an epoch may have one example, which must not change the averages."""
    torch.manual_seed(0)
    classifier = MLPClassifier(5, 3, hidden_size=4)
    classifier(torch.randn(7, 5))
    one = torch.randn(1, 5)
    averages = {name: buffer.clone() for name, buffer in classifier.named_buffers()}
    in_training = classifier(one)
    for name, buffer in classifier.named_buffers():
        assert torch.equal(buffer, averages[name])
    torch.testing.assert_close(in_training, classifier.eval()(one))
    in_training.sum().backward()
    for name, parameter in classifier.named_parameters():
        assert parameter.grad is not None, name


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [0.4, 0.4, 0.4, 0.4]),
        ({"between_layers": False}, [0.4, 0.4]),
        ({"hidden_dropout": 0.0}, [0.4, 0.0, 0.0, 0.0]),
    ],
)
def test_dropout_on_the_input_and_after_each_or_the_last_hidden_layer(settings, expected):
    classifier = MLPClassifier(5, 3, num_layers=3, dropout=0.4, **settings)
    dropouts = [m.p for m in classifier.modules() if isinstance(m, torch.nn.Dropout)]
    assert dropouts == expected
