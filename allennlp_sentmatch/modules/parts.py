"""Parts of models, and a check that they fit together."""

from typing import Any

import torch
from allennlp.common import Lazy
from allennlp.common.checks import check_dimensions_match
from allennlp.modules import FeedForward
from allennlp.nn import Activation

from allennlp_sentmatch.nn.checks import FRACTION


def check_fit(**parts: Any) -> None:
    """Check that each part reads vectors of the size that the part before it returns.

    The parts have `get_input_dim` and `get_output_dim`, and the names of their settings. Raise a
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
    """Return a `torch.nn.Dropout`; raise `ValueError`, naming the setting, unless 0 <= probability
    < 1.
    """
    FRACTION.check(name, probability)
    return torch.nn.Dropout(probability)


def relu_layer(size: int) -> Lazy[FeedForward]:
    """Return one layer of `size` units with ReLU, which still lacks its `input_dim`."""
    relu = Activation.by_name("relu")()
    return Lazy(FeedForward, num_layers=1, hidden_dims=size, activations=relu)
