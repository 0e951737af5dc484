"""Trees and attention in the output of a model."""

from collections.abc import Mapping
from functools import reduce
from typing import Any, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.modules.interpretable_encoder import (
    InterpretableEncoder,
    encode_with_internals,
    trim_attention,
)
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.padding import stack_padded

PREFIXES = ("", "premise_", "hypothesis_")
"""Of the names in the output: of a single text, or of each of two."""

_LENGTHS = "_lengths"


def encode_texts(
    encoder: torch.nn.Module, texts: Mapping[str, tuple[Tensor, Tensor]]
) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
    """Encode B texts, or both texts of B pairs, by one call of an encoder.

    # Parameters

    encoder : `torch.nn.Module`
        A `Seq2VecEncoder`.
    texts : `Mapping[str, tuple[Tensor, Tensor]]`
        By the prefix of their names in the output, such as `"premise_"`, inputs (B, T, D) and mask
        (B, T).

    # Returns

    `tuple[tuple[Tensor, ...], dict[str, Any]]`
        The vectors (B, E) of each of the texts, and what the encoder shows, for the output.
    """
    # Shape: (NB, T, D) and (NB, T) for N texts
    embedded, mask = reduce(stack_padded, texts.values())
    # Shape: (NB, E)
    vectors, internals = encode_with_internals(encoder, embedded, mask)
    shown: dict[str, Any] = {}
    for part, prefix in enumerate(texts):
        own = {name: tensor.chunk(len(texts))[part] for name, tensor in internals.items()}
        add_internals(shown, prefix, own, mask.chunk(len(texts))[part])
    return vectors.chunk(len(texts)), shown


def attend_to_each_other(
    encoded: Tensor,
    scored: Tensor,
    premise_mask: Tensor,
    hypothesis_mask: Tensor,
    matrix_attention: torch.nn.Module,
) -> tuple[Tensor, dict[str, Any]]:
    """Let each token of B pairs attend to the tokens of the other sentence.

    # Parameters

    encoded : `Tensor`
        (2B, T, E), the tokens of B premises of up to P tokens and then of B hypotheses of up to H,
        T being the larger of the two.
    scored : `Tensor`
        (2B, T, F), by which `matrix_attention` scores them against each other.
    premise_mask, hypothesis_mask : `Tensor`
        (B, P) and (B, H)
    matrix_attention : `MatrixAttention`

    # Returns

    `tuple[Tensor, dict[str, Any]]`
        The sums (2B, T, E) of what each token attends to, and for the output `premise_attention`
        (B, P, H), a row of weights over the hypothesis for each token of the premise, and
        `hypothesis_attention` (B, H, P).
    """
    masks = (premise_mask, hypothesis_mask)
    (premise, hypothesis), (premise_scored, hypothesis_scored) = (
        [half[:, : mask.size(1)] for half, mask in zip(tokens.chunk(2), masks)]
        for tokens in (encoded, scored)
    )
    # Shape: (B, P, H)
    similarity = matrix_attention(premise_scored, hypothesis_scored)
    premise_attention = masked_softmax(similarity, hypothesis_mask.unsqueeze(1))
    # Shape: (B, H, P)
    hypothesis_attention = masked_softmax(similarity.transpose(1, 2), premise_mask.unsqueeze(1))
    attended, _ = stack_padded(
        (premise_attention.bmm(hypothesis), premise_mask),
        (hypothesis_attention.bmm(premise), hypothesis_mask),
    )
    shown: dict[str, Any] = {}
    add_attention(shown, "premise_attention", premise_attention, *masks)
    add_attention(shown, "hypothesis_attention", hypothesis_attention, *reversed(masks))
    return attended, shown


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


def add_internals(
    output_dict: dict[str, Any], prefix: str, internals: dict[str, Tensor], mask: Tensor
) -> None:
    """Add the internals from `encode_with_internals`, each (B, ...), to the output of `forward`.

    With the prefix `"premise_"`, the internal `merges` becomes `premise_merges`, and
    `premise_num_tokens` (B,), from the mask (B, T), is added.
    """
    if internals:
        output_dict[f"{prefix}num_tokens"] = mask.sum(dim=1)
        output_dict.update({prefix + name: tensor for name, tensor in internals.items()})


def describe_internals(output_dict: dict[str, Any], encoder: Optional[torch.nn.Module]) -> None:
    """Replace the weights from `add_attention` by lists without padding, and the internals from
    `add_internals` by `encoder`'s descriptions.
    """
    for key in [key for key in output_dict if key.endswith(f"attention{_LENGTHS}")]:
        name = key[: -len(_LENGTHS)]
        lengths = output_dict.pop(key).tolist()
        output_dict[name] = [
            trim_attention(weights, *length) for weights, length in zip(output_dict[name], lengths)
        ]
    for prefix in PREFIXES:
        if isinstance(encoder, InterpretableEncoder) and f"{prefix}num_tokens" in output_dict:
            internals = {name: output_dict.pop(prefix + name) for name in encoder.internal_names}
            for row, tokens in enumerate(_take_tokens(output_dict, prefix)):
                described = encoder.describe({n: t[row] for n, t in internals.items()}, tokens)
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
