"""Sentences of different lengths without their padding, one time step after another.

Sentences are sorted by length, longest first, so that the first `sizes[t]` of them have a token at
step t, and their rows are adjacent: a step is a slice of the packed rows, and never computes
anything for a sentence that has ended. `torch.nn.utils.rnn.PackedSequence` has the same layout for
one direction. `in_order` and `reversed_indices` serve the naive forms, which reverse padded
sentences for their second direction.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor


class Packing(NamedTuple):
    """The order of the N tokens of a batch (B, T) in packed rows, for each of S directions.

    # Attributes

    sizes : `list[int]`
        The number of sentences at each step, not increasing; their sum is N.
    indices : `Tensor`
        A packed row's index among S * B * T padded rows, (S, N).
    before : `Optional[Tensor]`
        The rows of the same sentences one step earlier, (N - sizes[0]); `None` if these are the
        first ones.
    shape : `tuple[int, int]`
        B and T.
    """

    sizes: list[int]
    indices: Tensor
    before: Optional[Tensor]
    shape: tuple[int, int]

    @property
    def num_sentences(self) -> int:
        """Return the number of sentences that have a token."""
        return self.sizes[0] if self.sizes else 0

    @classmethod
    def of(
        cls,
        inputs: Tensor,
        mask: Optional[Tensor],
        bidirectional: bool,
    ) -> "Packing":
        """Return the packing of sentences (B, T, ...) with the `mask` (B, T).

        With `bidirectional` there are two directions, and the second one runs through each sentence
        from its last token to its first. Unless the mask is `None`, a program waits for its GPU
        here, and only here in a forward and backward pass.
        """
        B, T = inputs.shape[:2]
        device = inputs.device
        if mask is None:
            lengths = torch.full((B,), T, device=device)
            order = torch.arange(B, device=device)
            sizes = [B] * T if B else []
        else:
            lengths, order, sizes = order_by_length(mask)
        tokens = torch.arange(T, device=device)
        has_token = tokens.unsqueeze(1) < lengths  # (T, B)
        counts = has_token.sum(1)  # (T): the sizes and zeros
        starts = counts.cumsum(0) - counts  # (T): the first row of each step
        rows = torch.arange(sum(sizes), device=device)
        # Of each row, (N): its step, its place in the order of lengths, and its sentence.
        step = tokens.repeat_interleave(counts, output_size=len(rows))
        place = rows - starts[step]
        sentence = order[place]
        indices = [sentence * T + step]
        if bidirectional:
            first = (B + sentence) * T  # the second direction's row of the first token
            last = first + lengths[place] - 1
            indices.append(last - step)
        before = None
        if sizes and sizes[0] != sizes[-1]:
            later = slice(sizes[0], None)
            size_before = counts[step[later] - 1]
            before = rows[later] - size_before
        return cls(sizes, torch.stack(indices), before, (B, T))

    @property
    def order(self) -> Tensor:
        """Return the indices of the sentences that have tokens, longest first, (num_sentences)."""
        first_tokens = self.indices[0, : self.num_sentences]
        return torch.div(first_tokens, self.shape[1], rounding_mode="floor")

    def pack(self, sequence: Tensor) -> Tensor:
        """Return the tokens' vectors in each direction's order: (B, T, D) -> (S, N, D)."""
        B, T = self.shape
        S, N = self.indices.shape
        D = sequence.size(-1)
        indices = self.indices.view(-1) % (B * T)
        padded_rows = sequence.reshape(B * T, D)
        return padded_rows.index_select(0, indices).view(S, N, D)

    def unpack(self, packed: Tensor) -> Tensor:
        """Concatenate the directions, with zeros at padding: (S, N, H) -> (B, T, S * H).

        Each direction's vectors are in the order of the sentence.
        """
        B, T = self.shape
        S, N, H = packed.shape
        zeros = packed.new_zeros(S * B * T, H)
        packed_rows = packed.reshape(S * N, H)
        rows = zeros.index_copy(0, self.indices.view(-1), packed_rows)
        by_token = rows.view(S, B, T, H).permute(1, 2, 0, 3)
        return by_token.reshape(B, T, S * H)

    def previous(self, packed: Tensor) -> Tensor:
        """Return the rows of the same sentences one step earlier.

        (S, N, H) -> (S, N - sizes[0], H): the first step, which has none before it, is left out.
        """
        if self.before is not None:
            return packed.index_select(1, self.before)
        num_later = packed.size(1) - self.num_sentences
        return packed[:, :num_later]


def mask_of(inputs: Tensor, mask: Optional[Tensor]) -> Tensor:
    """Return the mask (B, T) of a batch (B, T, ...).

    That is the given mask or, if it is `None`, a mask without padding.
    """
    if mask is None:
        return inputs.new_ones(inputs.shape[:2], dtype=torch.bool)
    return mask


def clear_padding(sequence: Tensor, mask: Tensor) -> Tensor:
    """Return a batch (B, T, K) that is zero where the mask (B, T) is false.

    NaN in padding would reach the gradients of weights, since NaN times zero is NaN.
    """
    return sequence.masked_fill(~mask.unsqueeze(-1), 0.0)


def at_least_one_step(inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return inputs (B, T, D) and their mask (B, T), with a step of padding if T is 0.

    Some operations cannot read zero steps. Their callers drop the outputs of the additional step.
    """
    if inputs.size(1) > 0:
        return inputs, mask
    return F.pad(inputs, (0, 0, 0, 1)), F.pad(mask, (0, 1))


def last_states(
    states: Tensor,
    mask: Tensor,
    num_directions: int = 1,
) -> Tensor:
    """Take each direction's last state, (B, T, S * H), (B, T) -> (B, S * H).

    A second direction ends at the first token. The vector of an empty sentence is zero.
    """
    if states.size(1) == 0:
        return states.sum(1)  # zeros
    lengths = mask.sum(1)  # (B)
    rows = torch.arange(states.size(0), device=states.device)
    last_tokens = (lengths - 1).clamp(min=0)
    forward, *backward = states.chunk(num_directions, -1)  # (B, T, H) each
    ends = [forward[rows, last_tokens]]
    ends += [direction[:, 0] for direction in backward]
    is_empty = (lengths == 0).unsqueeze(1)  # (B, 1)
    return torch.cat(ends, -1).masked_fill(is_empty, 0.0)


def check_states(states: Sequence[Tensor], sizes: Mapping[str, int]) -> None:
    """Raise a `ValueError` unless h and c before the first step have the shape of these `sizes`.

    The keys are the names of the dimensions.
    """
    shape = tuple(sizes.values())
    for name, state in zip(("hidden state", "cell"), states):
        if state.shape != shape:
            raise ValueError(
                f"the {name} before the first step must have the shape ({', '.join(sizes)}), "
                f"{shape}, got {tuple(state.shape)}"
            )


def steps(packed: Tensor, sizes: list[int]) -> Sequence[Tensor]:
    """Split into the rows of each step: (..., N, K) becomes a sequence of (..., size, K)."""
    return packed.split(sizes, -2)  # type: ignore[no-any-return]


def order_by_length(mask: Tensor) -> tuple[Tensor, Tensor, list[int]]:
    """Sort sentences by length, longest first.

    Return the sorted lengths and the sentences' indices, (B) each, and the number of sentences that
    have a token t, for each t. Raise a `ValueError` if a token follows padding.
    """
    lengths, order = mask.sum(1).sort(descending=True, stable=True)
    num_wrong = _after_padding(mask).sum().view(1)
    values = torch.cat([lengths, num_wrong])
    *numbers, wrong = values.tolist()  # one transfer: synchronizes
    if wrong:
        check_order(mask)
    return lengths, order, step_sizes(numbers)


def step_sizes(lengths: Sequence[int]) -> list[int]:
    """Return the number of sentences that have a token t, for each t.

    The `lengths` of the sentences are sorted, longest first.
    """
    sizes = []
    n = len(lengths)
    longest = lengths[0] if lengths else 0
    for t in range(longest):
        while lengths[n - 1] <= t:
            n -= 1
        sizes.append(n)
    return sizes


def check_order(mask: Tensor, name: str = "mask") -> None:
    """Raise a `ValueError` if a sentence of the mask (B, T) has a token after padding.

    The error has the `name` of the mask, the sentence and the token. On a GPU, this waits for it.
    """
    after_padding = _after_padding(mask)
    if after_padding.any():
        sentence, index = after_padding.nonzero()[0].tolist()
        raise ValueError(
            f"{name} must be right-padded, but token {index + 1} of sentence {sentence} follows "
            "padding; move the tokens of each sentence to its beginning"
        )


def _after_padding(mask: Tensor) -> Tensor:
    """Return where a token follows padding, (B, T - 1); nowhere in a right-padded mask (B, T)."""
    return mask[:, 1:] > mask[:, :-1]


def lengths_of(sizes: list[int]) -> Tensor:
    """Return the number of tokens of each sentence, longest first, on the CPU: (sizes[0]).

    `sizes` are the numbers of sentences that have a token t, as in `Packing`, at least one.
    """
    sentences = torch.arange(sizes[0], device="cpu")
    num_sentences = torch.tensor(sizes, device="cpu").unsqueeze(1)  # (T, 1)
    has_token = sentences < num_sentences  # (T, sizes[0])
    return has_token.sum(0)


def in_order(sequence: Tensor, mask: Tensor, direction: int) -> Tensor:
    """Return sentences (B, T, ...) as direction 0 or 1 reads them, or what it read in their order.

    Direction 1 reads each sentence in reverse, with its padding on the right, so that no state
    passes through padding to a token. The mask is (B, T).
    """
    return sequence[reversed_indices(mask)] if direction else sequence


def reversed_indices(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the indices that reverse each sentence of a sequence (B, T, ...) with the mask (B, T).

    They are (B, 1) and (B, T), for the first two dimensions. Padding stays where it is, so that
    they also undo the reversal.
    """
    B, T = mask.shape
    row = torch.arange(B, device=mask.device).unsqueeze(1)  # (B, 1)
    position = torch.arange(T, device=mask.device)  # (T)
    last = mask.sum(1, keepdim=True) - 1  # (B, 1)
    from_end = last - position  # (B, T)
    return row, torch.where(mask, from_end, position)
