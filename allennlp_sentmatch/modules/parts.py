"""Parts of models, and a check that they fit together."""

from collections.abc import Sequence
from typing import Any, Union

import torch
from allennlp.common import Lazy
from allennlp.common.checks import check_dimensions_match
from allennlp.modules import FeedForward, Seq2SeqEncoder
from allennlp.nn import Activation

from allennlp_sentmatch.nn import Pooling
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


def pooling_of(encoder: Seq2SeqEncoder, pooling: Union[str, Sequence[str]]) -> Pooling:
    """Return the pooling with this name, or these names, for the outputs of an encoder.

    Only for "last", the encoder must tell whether it is bidirectional: other packages' may not.
    Raise `ValueError` for an unknown name.
    """
    bidirectional = "last" in pooling and encoder.is_bidirectional()
    return Pooling(encoder.get_output_dim(), pooling, bidirectional)


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
