"""SuBiLSTM's recurrence token by token; the equations are in `nn/subilstm.py`."""

from collections.abc import Sequence
from typing import Callable, Literal, Union

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.cells import gru_cell, lstm_cell
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan
from allennlp_sentmatch.nn.ops.subilstm.weights import SuffixWeights

Sizes = Union[list[int], Tensor]


def suffix_recurrence(
    tokens: Tensor,
    directions: Sequence[SuffixWeights],
    sizes: Sizes,
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[Tensor, Tensor]:
    """Compute the function of the same name in `allennlp_sentmatch.nn.ops.subilstm.recurrence`."""
    has_token = _has_token(tokens, sizes)
    encodings = []
    for x, weights in zip(tokens, directions):
        projected = _project(x, weights)
        # The states of the suffixes begun so far, (S, t, B, H): S is 2, h and c, or 1.
        states = _initial(projected, weights, 0)
        prefixes = states[0]
        for t, x_t in enumerate(projected):
            if t < num_starts:
                states = F.pad(states, (0, 0, 0, 0, 0, 1))
            first = max(0, t + 1 - window)  # earlier suffixes are at the end of their window
            current = _advance(x_t, states[:, first:], has_token[t].unsqueeze(1), weights, cell)
            states = torch.cat([states[:, :first], current], 1)
            prefixes = torch.cat([prefixes, current[0, :1]])
        encodings.append((prefixes, states[0]))
    prefixes, suffixes = map(torch.stack, zip(*encodings))
    return prefixes, suffixes


def scanned_recurrence(
    tokens: Tensor,
    directions: Sequence[SuffixWeights],
    sizes: Sizes,
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[Tensor, Tensor]:
    """Compute the same over all suffixes at each step, of which `scan` can make a loop."""
    t = torch.arange(tokens.size(1), device=tokens.device)
    starts = torch.arange(num_starts, device=tokens.device)
    began_ago = t.unsqueeze(1) - starts  # (T, num_starts)
    runs = (began_ago >= 0) & (began_ago < window)
    first = (t + 1 - window).clamp(min=0)  # (T), the suffix whose encoding is the prefix's
    has_token = _has_token(tokens, sizes)

    def one_direction(x: Tensor, weights: SuffixWeights) -> tuple[Tensor, Tensor]:
        def step(state: Tensors, at_step: Tensors) -> StepResult:
            (states,) = state  # (S, num_starts, B, H)
            x, runs, has_token, first = at_step  # (B, GH), (num_starts), (B), ()
            advances = (runs.unsqueeze(1) & has_token).unsqueeze(2)  # (num_starts, B, 1)
            states = _advance(x, states, advances, weights, cell)
            return (states,), (states[0].index_select(0, first.view(1)).squeeze(0),)

        projected = _project(x, weights)
        initial = _initial(projected, weights, num_starts)
        (states,), (prefixes,) = scan(step, (initial,), (projected, runs, has_token, first))
        return prefixes, states[0]

    prefixes, suffixes = map(torch.stack, zip(*map(one_direction, tokens, directions)))
    return prefixes, suffixes


def _has_token(tokens: Tensor, sizes: Sizes) -> Tensor:
    """Whether there is a token, (T, B)."""
    if isinstance(sizes, Tensor):
        return sizes
    sentence = torch.arange(tokens.size(2), device=tokens.device)
    return sentence < torch.tensor(sizes, device=tokens.device).unsqueeze(1)


def _project(x: Tensor, weights: SuffixWeights) -> Tensor:
    """W x + b, (T, B, GH), in the states' precision: autocast narrows the products alone."""
    projected = F.linear(x, weights.weight_ih_l0, weights.bias_l0)
    return projected.to(weights.weight_hh_l0.dtype)


def _initial(projected: Tensor, weights: SuffixWeights, num_starts: int) -> Tensor:
    """The states before the first token, (2, num_starts, B, H) or for a GRU (1, ...)."""
    GH, H = weights.weight_hh_l0.shape
    return projected.new_zeros(2 if GH == 4 * H else 1, num_starts, projected.size(1), H)


def _advance(
    x: Tensor, states: Tensor, advances: Tensor, weights: SuffixWeights, cell: str
) -> Tensor:
    """The next states (S, R, B, H) of R suffixes.

    `x` is W x + b of their next token, (B, GH), and `advances` (R, B, 1) or (B, 1) is false where
    there is none.
    """
    u = F.linear(states[0], weights.weight_hh_l0).to(x.dtype)  # (R, B, GH)
    return torch.where(advances, CELLS[cell](x, u, states), states)


def _lstm_step(x: Tensor, u: Tensor, states: Tensor) -> Tensor:
    """Return the next h and c of an LSTM, stacked, from W x + b (B, 4H) and U h (..., B, 4H)."""
    return torch.stack(lstm_cell(x, u, states[1]))


#: The next states, (2, ..., B, H) or for a GRU (1, ..., B, H), from W x + b, U h and the states.
CELLS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {"lstm": _lstm_step, "gru": gru_cell}
