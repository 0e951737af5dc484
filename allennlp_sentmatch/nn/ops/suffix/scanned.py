"""SuBiLSTM's recurrence over all suffixes at each step, of which `scan` can make a loop."""

from collections.abc import Sequence
from typing import Literal, Union

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan
from allennlp_sentmatch.nn.ops.suffix import naive
from allennlp_sentmatch.nn.ops.suffix.weights import SuffixWeights


def suffix_recurrence(
    tokens: Tensor,
    directions: Sequence[SuffixWeights],
    sizes: Union[list[int], Tensor],
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[Tensor, Tensor]:
    """Compute the function of the same name in `allennlp_sentmatch.nn.ops.suffix.recurrence`."""
    advance = naive.CELLS[cell]
    T, B = tokens.shape[1:3]
    t = torch.arange(T, device=tokens.device)
    starts = torch.arange(num_starts, device=tokens.device)
    began_ago = t.unsqueeze(1) - starts  # (T, num_starts)
    runs = (began_ago >= 0) & (began_ago < window)
    first = (t + 1 - window).clamp(min=0)  # (T), the suffix whose encoding is the prefix's
    if isinstance(sizes, Tensor):
        has_token = sizes  # (T, B)
    else:
        sentence = torch.arange(B, device=tokens.device)
        has_token = sentence < torch.tensor(sizes, device=tokens.device).unsqueeze(1)

    def one_direction(x: Tensor, weights: SuffixWeights) -> tuple[Tensor, Tensor]:
        projected = F.linear(x, weights.weight_ih_l0, weights.bias_l0)  # (T, B, GH)
        # Autocast narrows the products but not the states.
        projected = projected.to(weights.weight_hh_l0.dtype)

        def step(state: Tensors, at_step: Tensors) -> StepResult:
            (states,) = state  # (S, num_starts, B, H): S is 2, h and c, or 1
            x, runs, has_token, first = at_step  # (B, GH), (num_starts), (B), ()
            u = F.linear(states[0], weights.weight_hh_l0).to(x.dtype)  # (num_starts, B, GH)
            advances = (runs.unsqueeze(1) & has_token).unsqueeze(2)  # (num_starts, B, 1)
            states = torch.where(advances, advance(x, u, states), states)
            return (states,), (states[0].index_select(0, first.view(1)).squeeze(0),)

        H = weights.weight_hh_l0.size(1)
        initial = projected.new_zeros(2 if cell == "lstm" else 1, num_starts, B, H)
        (states,), (prefixes,) = scan(step, (initial,), (projected, runs, has_token, first))
        return prefixes, states[0]

    prefixes, suffixes = zip(*map(one_direction, tokens, directions))
    return torch.stack(prefixes), torch.stack(suffixes)
