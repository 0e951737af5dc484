"""SuBiLSTM's recurrence token by token; the equations are in `nn/subilstm.py`.

Each step computes all suffixes, and keeps the states of those that do not advance, for `scan`.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Union

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.cells import gru_cell, lstm_cell
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan


class SuffixWeights(NamedTuple):
    """The parameters of a cell with G gates: W, U and b.

    `weight_ih_l0` is (GH, D), `weight_hh_l0` (GH, H) and `bias_l0` (GH).
    """

    weight_ih_l0: Tensor
    weight_hh_l0: Tensor
    bias_l0: Tensor


def suffix_recurrence(
    tokens: Tensor,
    directions: Sequence[SuffixWeights],
    sizes: Union[list[int], Tensor],
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[Tensor, Tensor]:
    """Implement the function of the same name in `ops.subilstm.recurrence`."""
    _, T, B, _ = tokens.shape
    t = torch.arange(T, device=tokens.device)
    first = (t + 1 - window).clamp(min=0)  # (T), the suffix whose encoding is the prefix's
    if isinstance(sizes, Tensor):
        has_token = sizes  # (T, B)
    else:
        sentence = torch.arange(B, device=tokens.device)
        sizes_of_steps = torch.tensor(sizes, device=tokens.device)
        has_token = sentence < sizes_of_steps.unsqueeze(1)
    by_token = (t, has_token, first)
    prefixes = []
    suffixes = []
    for x, weights in zip(tokens, directions):
        prefix, suffix = _one_direction(x, by_token, weights, window, num_starts, cell)
        prefixes.append(prefix)
        suffixes.append(suffix)
    return torch.stack(prefixes), torch.stack(suffixes)


def _one_direction(
    tokens: Tensor,
    by_token: Tensors,
    weights: SuffixWeights,
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[Tensor, Tensor]:
    """Return the prefixes (T, B, H) and the suffixes (num_starts, B, H) of tokens (T, B, D).

    For each token, `by_token` has its number (T), which sentences have it (T, B), and the suffix
    whose encoding is then the prefix's (T).
    """
    starts = torch.arange(num_starts, device=tokens.device)

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        (states,) = state  # (1 or 2, num_starts, B, H)
        x, t, has_token, first = at_step  # (B, GH), (), (B), ()
        began_ago = t - starts  # (num_starts)
        runs = (began_ago >= 0) & (began_ago < window)
        advances = runs.unsqueeze(1) & has_token  # (num_starts, B)
        u = F.linear(states[0], weights.weight_hh_l0).to(x.dtype)  # (num_starts, B, GH)
        if cell == "lstm":
            new_states = torch.stack(lstm_cell(x, u, states[1]))
        else:
            new_states = gru_cell(x, u, states)
        states = torch.where(advances.unsqueeze(2), new_states, states)
        prefix = states[0].index_select(0, first.view(1)).squeeze(0)  # (B, H)
        return (states,), (prefix,)

    # W x + b, (T, B, GH), in the states' precision: autocast narrows only the products.
    projected = F.linear(tokens, weights.weight_ih_l0, weights.bias_l0)
    projected = projected.to(weights.weight_hh_l0.dtype)
    num_states = 2 if cell == "lstm" else 1
    H = weights.weight_hh_l0.size(1)
    initial = projected.new_zeros(num_states, num_starts, projected.size(1), H)
    (states,), (prefixes,) = scan(step, (initial,), (projected, *by_token))
    return prefixes, states[0]
