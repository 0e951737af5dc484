import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules import FeedForward
from torch import nn

from allennlp_sentmatch.modules.parts import check_fit, dropout_layer, relu_layer


def part(input_dim: int, output_dim: int) -> FeedForward:
    return FeedForward(input_dim, 1, output_dim, nn.ReLU())


def test_the_first_two_parts_that_do_not_fit_are_named():
    check_fit(first=part(2, 3), second=part(3, 4), third=part(4, 1))
    message = "second output dim must match third input dim, but got 4 and 5"
    with pytest.raises(ConfigurationError, match=message):
        check_fit(first=part(2, 3), second=part(3, 4), third=part(5, 1), fourth=part(7, 1))


def test_the_probability_of_a_setting():
    assert dropout_layer("embedding_dropout", 0.3).p == 0.3
    message = r"^embedding_dropout must be .* below 1, got 1.0$"
    with pytest.raises(ConfigurationError, match=message):
        dropout_layer("embedding_dropout", 1.0)


def test_a_layer_with_relu():
    layer = relu_layer(3).construct(input_dim=2)
    (linear,) = layer._linear_layers
    inputs = torch.randn(5, 2)
    torch.testing.assert_close(layer(inputs), linear(inputs).clamp(min=0))
