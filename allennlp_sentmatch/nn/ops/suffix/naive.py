"""SuBiLSTM's recurrence token by token; the equations are in `nn/suffix_bilstm.py`."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

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
    step = STEPS[cell]
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
    i, f, g, o = (x + u).chunk(4, -1)
    c = f.sigmoid() * states[1] + i.sigmoid() * g.tanh()
    return torch.stack([o.sigmoid() * c.tanh(), c])


def _gru_step(x: Tensor, u: Tensor, states: Tensor) -> Tensor:
    """Return the next h of a GRU, (1, ..., B, H), from W x + b (B, 3H) and U h (..., B, 3H)."""
    x_r, x_z, x_n = x.chunk(3, -1)
    u_r, u_z, u_n = u.chunk(3, -1)
    z = (x_z + u_z).sigmoid()
    n = (x_n + (x_r + u_r).sigmoid() * u_n).tanh()
    return (1 - z) * n + z * states


STEPS = {"lstm": _lstm_step, "gru": _gru_step}
