"""Encoders that show their internals: trees and attention."""

import math
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

LARGEST_MATRIX = 1_000_000


@runtime_checkable
class InterpretableEncoder(Protocol):
    """An encoder with internals, such as trees or attention.

    Models call `encode_with_internals` with any encoder; an encoder with the three members below
    shows its internals. "gumbel_tree_lstm" shows its trees, "lstmn" its attention, "pooled" its own
    attention and the internals of its encoder.
    """

    @property
    def internal_names(self) -> tuple[str, ...]:
        """The keys of the internals, possibly none."""

    def __call__(
        self,
        inputs: Tensor,
        mask: Tensor,
        return_internals: bool,
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the output and, with `return_internals=True`, named tensors of shape (B, ...)."""

    def describe(self, internals: dict[str, Tensor], tokens: Sequence[str]) -> dict[str, Any]:
        """Turn one sentence's row of each tensor into strings, numbers and lists."""


def encode_with_internals(
    encoder: torch.nn.Module,
    inputs: Tensor,
    mask: Tensor,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Encode sentences (B, T, D) with a right-padded mask (B, T) by any `Seq2SeqEncoder` or
    `Seq2VecEncoder`. Return the output and the internals, which are empty unless it is an
    `InterpretableEncoder`.
    """
    if not isinstance(encoder, InterpretableEncoder):
        return encoder(inputs, mask), {}
    results: tuple[Tensor, dict[str, Tensor]] = encoder(inputs, mask, return_internals=True)
    return results


def trim_attention(weights: Tensor, *lengths: int) -> list[Any]:
    """Turn the attention of one sentence, (T,) or (R, C), into lists without padding.

    The `lengths` are the numbers of weights that are not padding, one for each dimension. For more
    than a million weights, the lists are empty: as JSON, they would take a gigabyte.
    """
    if math.prod(lengths) > LARGEST_MATRIX:
        return []
    trimmed: list[Any] = weights[tuple(slice(length) for length in lengths)].tolist()
    return trimmed
