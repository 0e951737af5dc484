"""The internals of encoders, such as trees and attention, in the output of a model."""

from typing import Any

import torch
from torch import Tensor

from allennlp_sentmatch.modules.interpretable_encoder import InterpretableEncoder


def add_internals(
    output_dict: dict[str, Any], prefix: str, internals: dict[str, Tensor], mask: Tensor
) -> None:
    """Put what `encode_with_internals` returned into the output of `forward`.

    # Parameters

    output_dict : `dict[str, Any]`
    prefix : `str`
        What the sentences are called, `"premise_"` for instance: the internal `merges` becomes
        `premise_merges`. With it comes `premise_num_tokens` (B,).
    internals : `dict[str, Tensor]`
        Each (B, ...).
    mask : `Tensor`
        (B, T)
    """
    if internals:
        output_dict[f"{prefix}num_tokens"] = mask.sum(dim=1)
        output_dict.update({prefix + name: tensor for name, tensor in internals.items()})


def describe_internals(output_dict: dict[str, Any], prefix: str, encoder: torch.nn.Module) -> None:
    """Replace the internals that `add_internals` put there by `encoder`'s descriptions of them."""
    if not isinstance(encoder, InterpretableEncoder) or not encoder.internal_names:
        return
    internals = {name: output_dict.pop(prefix + name) for name in encoder.internal_names}
    for row, tokens in enumerate(take_tokens(output_dict, prefix)):
        described = encoder.describe({name: t[row] for name, t in internals.items()}, tokens)
        for name, value in described.items():
            output_dict.setdefault(prefix + name, []).append(value)


def take_tokens(output_dict: dict[str, Any], prefix: str) -> list[list[str]]:
    """The tokens of each sentence of a batch, and no more `num_tokens` in its output.

    They are in the metadata, under `premise_tokens` for the prefix `"premise_"`, if the reader is
    one of this package. Otherwise a token is named by its position.
    """
    lengths = output_dict.pop(f"{prefix}num_tokens").tolist()
    metadata = output_dict.get("metadata", [{}] * len(lengths))
    tokens: list[list[str]] = []
    for length, of_instance in zip(lengths, metadata):
        named = of_instance.get(f"{prefix}tokens", [])
        tokens.append(named if len(named) == length else [str(i) for i in range(length)])
    return tokens
