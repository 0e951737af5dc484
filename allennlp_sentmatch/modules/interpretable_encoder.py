"""How an encoder shows what it did with a sentence: the tree it built, where it attended."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

LARGEST_MATRIX = 1_000_000


@runtime_checkable
class InterpretableEncoder(Protocol):
    """An encoder that has more to show than its output.

    A model need not know which encoder it holds: `encode_with_internals` works with every encoder,
    and an encoder takes part by having the three members below. "gumbel_tree_lstm" shows its trees,
    "lstmn" its attention, "pooled" its own attention and what its encoder shows.
    """

    @property
    def internal_names(self) -> tuple[str, ...]:
        """The keys of the internals; they may be none."""

    def __call__(
        self, inputs: Tensor, mask: Tensor, return_internals: bool
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """With `return_internals=True`, the output and by name tensors of shape (B, ...)."""

    def describe(self, internals: dict[str, Tensor], tokens: Sequence[str]) -> dict[str, Any]:
        """One sentence's internals, its row of each tensor, as strings, numbers and lists."""


def encode_with_internals(
    encoder: torch.nn.Module, inputs: Tensor, mask: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """Encode with any encoder.

    # Parameters

    encoder : `torch.nn.Module`
        A `Seq2SeqEncoder` or `Seq2VecEncoder`.
    inputs : `Tensor`
        (B, T, D)
    mask : `Tensor`
        (B, T), bool, right-padded.

    # Returns

    `tuple[Tensor, dict[str, Tensor]]`
        The encoder's output, and its internals: none, where it is no `InterpretableEncoder`.
    """
    if not isinstance(encoder, InterpretableEncoder):
        return encoder(inputs, mask), {}
    outputs: Tensor
    internals: dict[str, Tensor]
    outputs, internals = encoder(inputs, mask, return_internals=True)
    return outputs, internals


def cut_attention(weights: Tensor, num_rows: int, num_columns: int) -> list[list[float]]:
    """An attention matrix (rows, columns) without its padding, as lists.

    No rows for a matrix of more than a million weights, that of a text of thousands of tokens:
    nobody would look at it, and as JSON it would take a gigabyte of memory.
    """
    if num_rows * num_columns > LARGEST_MATRIX:
        return []
    cut: list[list[float]] = weights[:num_rows, :num_columns].tolist()
    return cut
