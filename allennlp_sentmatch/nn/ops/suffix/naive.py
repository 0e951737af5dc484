"""SuBiLSTM's recurrence token by token; the equations are in `nn/suffix_bilstm.py`."""

from collections.abc import Sequence
from typing import Callable, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.cells import gru_cell, lstm_cell
from allennlp_sentmatch.nn.ops.suffix.weights import SuffixWeights


def suffix_recurrence(
    tokens: Tensor,
    directions: Sequence[SuffixWeights],
    sizes: list[int],
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[Tensor, Tensor]:
    """Compute the function of the same name in `allennlp_sentmatch.nn.ops.suffix.recurrence`."""
    encodings = []
    for x, weights in zip(tokens, directions):
        projected = F.linear(x, weights.weight_ih_l0, weights.bias_l0)  # (T, B, GH)
        # Autocast narrows the products but not the states.
        projected = projected.to(weights.weight_hh_l0.dtype)
        encodings.append(
            _one_direction(projected, weights.weight_hh_l0, sizes, window, num_starts, cell)
        )
    prefixes, suffixes = zip(*encodings)
    return torch.stack(prefixes), torch.stack(suffixes)


def _one_direction(
    projected: Tensor,
    weight_hh: Tensor,
    sizes: list[int],
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[Tensor, Tensor]:
    """Return the encodings of prefixes (T, B, H) and suffixes (num_starts, B, H)."""
    step = CELLS[cell]
    B, H = projected.size(1), weight_hh.size(1)
    # The states of the suffixes begun so far, (S, t, B, H): S is 2, h and c, or 1.
    states = projected.new_zeros(2 if cell == "lstm" else 1, 0, B, H)
    prefixes = projected.new_zeros(0, B, H)
    for t, size in enumerate(sizes):
        if t < num_starts:
            states = F.pad(states, (0, 0, 0, 0, 0, 1))
        first = max(0, t + 1 - window)  # earlier suffixes are at the end of their window
        current = states[:, first:]
        u = F.linear(current[0], weight_hh).to(projected.dtype)  # (t - first + 1, B, GH)
        has_token = (torch.arange(B, device=u.device) < size).unsqueeze(1)  # (B, 1)
        current = torch.where(has_token, step(projected[t], u, current), current)
        states = torch.cat([states[:, :first], current], 1)
        prefixes = torch.cat([prefixes, current[0, :1]])
    return prefixes, states[0]


def _lstm_step(x: Tensor, u: Tensor, states: Tensor) -> Tensor:
    """Return the next h and c of an LSTM, stacked, from W x + b (B, 4H) and U h (..., B, 4H)."""
    return torch.stack(lstm_cell(x + u, states[1]))


#: The next states, (2, ..., B, H) or for a GRU (1, ..., B, H), from W x + b, U h and the states.
CELLS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {"lstm": _lstm_step, "gru": gru_cell}
