"""The classifier against its equations, and what it refuses."""

import pytest
import torch

from allennlp_sentmatch.nn import MLPClassifier


def batch_norm(x, weight, bias, epsilon=1e-5):
    """Ioffe and Szegedy 2015, algorithm 1: over the batch, with the biased variance."""
    mean = x.mean(dim=0)
    variance = ((x - mean) ** 2).mean(dim=0)
    return (x - mean) / (variance + epsilon).sqrt() * weight + bias


@pytest.mark.parametrize(
    ("num_layers", "activation"), [(0, "relu"), (1, "relu"), (2, "tanh"), (2, "linear")]
)
def test_equations(num_layers, activation):
    torch.manual_seed(0)
    classifier = MLPClassifier(
        5, 3, hidden_size=4, num_layers=num_layers, activation=activation
    ).double()
    for parameter in classifier.parameters():
        torch.nn.init.normal_(parameter)
    features = torch.randn(7, 5, dtype=torch.float64)
    weights = list(classifier.parameters())  # in the order of the equations

    x = batch_norm(features, weights[0], weights[1])
    for layer in range(num_layers):
        W, b, bn_weight, bn_bias = weights[2 + 4 * layer : 6 + 4 * layer]
        x = x @ W.T + b
        x = {"relu": x.clamp(min=0), "tanh": x.tanh(), "linear": x}[activation]
        x = batch_norm(x, bn_weight, bn_bias)
    W, b = weights[-2:]
    torch.testing.assert_close(classifier(features), x @ W.T + b, atol=1e-9, rtol=0)


def test_without_batch_norm_a_row_does_not_see_its_batch():
    classifier = MLPClassifier(5, 3, hidden_size=4, batch_norm=False)
    features = torch.randn(7, 5)
    torch.testing.assert_close(classifier(features)[2:3], classifier(features[2:3]))
    assert not any("running_mean" in name for name in classifier.state_dict())


def test_a_batch_of_one_in_training_is_normalized_by_the_running_averages():
    """The last batch of an epoch may be one, and it must not move the averages."""
    torch.manual_seed(0)
    classifier = MLPClassifier(5, 3, hidden_size=4)
    classifier(torch.randn(7, 5))
    one = torch.randn(1, 5)
    averages = {name: b.clone() for name, b in classifier.named_buffers()}
    in_training = classifier(one)
    assert all(torch.equal(b, averages[name]) for name, b in classifier.named_buffers())
    torch.testing.assert_close(in_training, classifier.eval()(one))
    in_training.sum().backward()
    assert all(p.grad is not None for p in classifier.parameters())


def test_dropout_on_the_input_and_after_each_hidden_layer():
    classifier = MLPClassifier(5, 3, num_layers=2, dropout=0.4)
    dropouts = [m for m in classifier.modules() if isinstance(m, torch.nn.Dropout)]
    assert [dropout.p for dropout in dropouts] == [0.4, 0.4, 0.4]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("input_size", 0),
        ("num_labels", 0),
        ("hidden_size", 0),
        ("num_layers", -1),
        ("dropout", 1.0),
        ("dropout", -0.1),
        ("activation", "gelu"),
    ],
)
def test_impossible_settings(name, value):
    arguments = {"input_size": 5, "num_labels": 3, name: value}
    with pytest.raises(ValueError, match=name):
        MLPClassifier(**arguments)


def test_batch_norm_and_dropout_of_the_input_and_the_last_layer_only():
    torch.manual_seed(0)
    classifier = MLPClassifier(5, 3, hidden_size=4, num_layers=3, between_layers=False).double()
    for parameter in classifier.parameters():
        torch.nn.init.normal_(parameter)
    features = torch.randn(7, 5, dtype=torch.float64)
    weights = list(classifier.parameters())
    x = batch_norm(features, *weights[:2])
    for W, b in (weights[2:4], weights[4:6], weights[6:8]):
        x = (x @ W.T + b).clamp(min=0)
    x = batch_norm(x, *weights[8:10])
    W, b = weights[10:]
    torch.testing.assert_close(classifier(features), x @ W.T + b, atol=1e-9, rtol=0)
    modules = MLPClassifier(5, 3, num_layers=3, dropout=0.2, between_layers=False).modules()
    assert sum(isinstance(module, torch.nn.Dropout) for module in modules) == 2
