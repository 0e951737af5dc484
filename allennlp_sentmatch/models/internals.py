"""Trees and attention in the output of a model."""

from typing import Any

import torch
from torch import Tensor

from allennlp_sentmatch.modules.interpretable_encoder import InterpretableEncoder, trim_attention

_LENGTHS = "_lengths"


def add_attention(output_dict: dict[str, Any], name: str, weights: Tensor, *masks: Tensor) -> None:
    """Add attention weights to the output of `forward`.

    # Parameters

    output_dict : `dict[str, Any]`
    name : `str`
        The key, such as `"premise_attention"`.
    weights : `Tensor`
        A vector (B, T) or a matrix (B, R, C) for each instance.
    masks : `Tensor`
        (B, T), or (B, R) and (B, C): the mask of each dimension, right-padded.
    """
    output_dict[name] = weights
    # Shape: (B, 1) or (B, 2)
    output_dict[name + _LENGTHS] = torch.stack([mask.sum(dim=1) for mask in masks], dim=1)


def describe_attention(output_dict: dict[str, Any]) -> None:
    """Replace the weights from `add_attention` by lists without padding."""
    for key in [key for key in output_dict if key.endswith(f"attention{_LENGTHS}")]:
        name = key[: -len(_LENGTHS)]
        lengths = output_dict.pop(key).tolist()
        output_dict[name] = [
            trim_attention(weights, *length) for weights, length in zip(output_dict[name], lengths)
        ]


def add_internals(
    output_dict: dict[str, Any], prefix: str, internals: dict[str, Tensor], mask: Tensor
) -> None:
    """Add the internals from `encode_with_internals` to the output of `forward`.

    # Parameters

    output_dict : `dict[str, Any]`
    prefix : `str`
        The name of the sentences, such as `"premise_"`: the internal `merges` becomes
        `premise_merges`. `premise_num_tokens` (B,) is added with it.
    internals : `dict[str, Tensor]`
        Each (B, ...).
    mask : `Tensor`
        (B, T)
    """
    if internals:
        output_dict[f"{prefix}num_tokens"] = mask.sum(dim=1)
        output_dict.update({prefix + name: tensor for name, tensor in internals.items()})


def describe_internals(output_dict: dict[str, Any], prefix: str, encoder: torch.nn.Module) -> None:
    """Replace the internals from `add_internals`, if there are any, by `encoder`'s descriptions."""
    if not isinstance(encoder, InterpretableEncoder) or f"{prefix}num_tokens" not in output_dict:
        return
    internals = {name: output_dict.pop(prefix + name) for name in encoder.internal_names}
    for row, tokens in enumerate(_take_tokens(output_dict, prefix)):
        described = encoder.describe({name: t[row] for name, t in internals.items()}, tokens)
        for name, value in described.items():
            output_dict.setdefault(prefix + name, []).append(value)


def _take_tokens(output_dict: dict[str, Any], prefix: str) -> list[list[str]]:
    """The tokens of each sentence of a batch. Removes `num_tokens` from the output.

    This package's readers put them into the metadata, as `premise_tokens` for the prefix
    `"premise_"`. With another reader, a token is named by its position.
    """
    lengths = output_dict.pop(f"{prefix}num_tokens").tolist()
    all_metadata = output_dict.get("metadata", [{}] * len(lengths))
    all_tokens: list[list[str]] = []
    for length, metadata in zip(lengths, all_metadata):
        tokens = metadata.get(f"{prefix}tokens", [])
        all_tokens.append(tokens if len(tokens) == length else [str(i) for i in range(length)])
    return all_tokens
