"""SuBiLSTM's recurrence token by token; the equations are in `nn/subilstm.py`.

Each step computes all suffixes, and keeps the states of those that do not advance, for `scan`.
"""

from collections.abc import Sequence
from typing import Callable, Literal, NamedTuple, Union

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.cells import gru_cell, lstm_cell
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan


class SuffixWeights(NamedTuple):
    """The parameters of a cell: `weight_ih_l0` (GH, D), `weight_hh_l0` (GH, H), `bias_l0` (GH)."""

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
    """Implement the function of the same name in
    `allennlp_sentmatch.nn.ops.subilstm.recurrence`.
    """
    device = tokens.device
    t = torch.arange(tokens.size(1), device=device)
    starts = torch.arange(num_starts, device=device)
    first = (t + 1 - window).clamp(min=0)  # (T), the suffix whose encoding is the prefix's
    if isinstance(sizes, Tensor):
        has_token = sizes  # (T, B)
    else:
        sentence = torch.arange(tokens.size(2), device=device)
        has_token = sentence < torch.tensor(sizes, device=device).unsqueeze(1)

    def one_direction(x: Tensor, weights: SuffixWeights) -> tuple[Tensor, Tensor]:
        def step(state: Tensors, at_step: Tensors) -> StepResult:
            (states,) = state  # (1 or 2, num_starts, B, H)
            x, t, has_token, first = at_step  # (B, GH), (), (B), ()
            began_ago = t - starts  # (num_starts)
            runs = (began_ago >= 0) & (began_ago < window)
            advances = (runs.unsqueeze(1) & has_token).unsqueeze(2)  # (num_starts, B, 1)
            u = F.linear(states[0], weights.weight_hh_l0).to(x.dtype)  # (num_starts, B, GH)
            states = torch.where(advances, CELLS[cell](x, u, states), states)
            prefix = states[0].index_select(0, first.view(1)).squeeze(0)  # (B, H)
            return (states,), (prefix,)

        # W x + b, (T, B, GH), in the states' precision: autocast narrows only the products.
        projected = F.linear(x, weights.weight_ih_l0, weights.bias_l0)
        projected = projected.to(weights.weight_hh_l0.dtype)
        num_states = 2 if cell == "lstm" else 1
        H = weights.weight_hh_l0.size(1)
        initial = projected.new_zeros(num_states, num_starts, projected.size(1), H)
        (states,), (prefixes,) = scan(step, (initial,), (projected, t, has_token, first))
        return prefixes, states[0]

    encodings = [one_direction(x, weights) for x, weights in zip(tokens, directions)]
    prefixes, suffixes = zip(*encodings)
    return torch.stack(prefixes), torch.stack(suffixes)


#: The next states, (2, ..., B, H) or for a GRU (1, ..., B, H), from W x + b, U h and the states.
CELLS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "lstm": lambda x, u, states: torch.stack(lstm_cell(x, u, states[1])),
    "gru": gru_cell,
}
