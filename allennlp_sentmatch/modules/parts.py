"""Parts of models: made from their settings, and checked to fit together."""

from typing import Any

import torch
from allennlp.common import FromParams, Lazy
from allennlp.common.checks import check_dimensions_match
from allennlp.modules import FeedForward
from allennlp.nn import Activation

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.nn.checks import check_fraction
from allennlp_sentmatch.nn.mlp_classifier import MLPClassifier


class Classifier(FromParams):
    """Holds the `MLPClassifier` that a configuration states.

    A model takes a `Lazy[Classifier]`, fills in `input_size` and `num_labels`, and keeps the
    `module`; a configuration says no more than `{"num_layers": 2, "dropout": 0.15}`. Takes the
    settings of `allennlp_sentmatch.nn.MLPClassifier`.
    """

    @constructs(MLPClassifier)
    def __init__(self, module: MLPClassifier) -> None:
        self.module = module


def check_fit(**parts: Any) -> None:
    """Check that each part reads vectors of the size that the part before it returns.

    The parts have `get_input_dim` and `get_output_dim`, and the names of their settings. Raises a
    `ConfigurationError` that names the first two that do not fit, and their sizes.
    """
    names = list(parts)
    for name, following in zip(names, names[1:]):
        check_dimensions_match(
            parts[name].get_output_dim(),
            parts[following].get_input_dim(),
            f"{name} output dim",
            f"{following} input dim",
        )


def dropout_layer(name: str, probability: float) -> torch.nn.Dropout:
    """A `torch.nn.Dropout`. Raises a `ValueError` that names the setting `name` if the probability
    is not at least 0 and below 1.
    """
    check_fraction(**{name: probability})
    return torch.nn.Dropout(probability)


def relu_layer(size: int) -> Lazy[FeedForward]:
    """One layer of `size` units with ReLU, which lacks its `input_dim`."""
    relu = Activation.by_name("relu")()
    return Lazy(FeedForward, num_layers=1, hidden_dims=size, activations=relu)
