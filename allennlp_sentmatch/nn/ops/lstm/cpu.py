r"""The steps of `lstm_layer` compiled for CPUs: all that is element-wise in a step is one pass."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Optional, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.activations import per_feature
from allennlp_sentmatch.nn.ops.common.native_tables import Rows, threads
from allennlp_sentmatch.nn.ops.common.products import product, reordered

with suppress(ImportError):  # they are not called without a compiler
    from allennlp_sentmatch.nn.ops.native import _lstm_steps


def read_steps(
    sizes: list[int],
    weight_hh: Sequence[Tensor],
    gates: Tensor,
    hidden: Tensor,
    cell: Tensor,
    lower: Optional[Tensor],
    left_weight: Union[Tensor, float],
    lower_weight: float,
    peephole_left: Optional[Tensor],
) -> None:
    """As the function of the same name in `eager`."""
    H = hidden.size(-1)
    vectors = [per_feature(x, hidden) for x in (left_weight, lower_weight, peephole_left)]
    zeros = gates.new_zeros(gates.size(-1))
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(map(reordered, weight_hh)):
        gates_at, hidden_at, cell_at, lower_at = (Rows(x, s) for x in (gates, hidden, cell, lower))
        of_features = [Rows(x, s)[0] for x in vectors]
        for t, (start, n) in enumerate(zip(starts, sizes)):
            num_left = n if t > 0 else 0
            left = starts[t - 1] if t > 0 else 0
            recurrent = zeros
            if t > 0:
                recurrent = product(hidden[s, left : left + n], weight)  # (n, R)
            _lstm_steps.read(
                gates.dtype == torch.float64,
                *threads(n * gates.size(-1)),
                n,
                num_left,
                H,
                recurrent.size(-1),
                gates_at[start],
                recurrent.data_ptr(),
                cell_at[left],
                lower_at[start],
                *of_features,
                zeros.data_ptr(),
                hidden_at[start],
                cell_at[start],
            )


def read_back(
    sizes: list[int],
    weight_hh: Sequence[Tensor],
    hidden: Tensor,
    cell: Tensor,
    grad_hidden: Tensor,
    grad_cell: Optional[Tensor],
    gates: Tensor,
    lower: Optional[Tensor],
    left_weight: Union[Tensor, float],
    lower_weight: float,
    peephole_left: Optional[Tensor],
    grad_lower: Optional[Tensor],
    grad_left_weight: Optional[Tensor],
) -> None:
    """As the function of the same name in `eager`."""
    R, H = weight_hh[0].shape
    vectors = [per_feature(x, hidden) for x in (left_weight, lower_weight, peephole_left)]
    grad_hidden = grad_hidden.contiguous()
    grad_cell = None if grad_cell is None else grad_cell.contiguous()
    if lower is not None and grad_lower is None:
        grad_lower = torch.empty_like(lower)  # of no use, but always written
    by_left_weight = hidden.new_zeros(len(hidden), torch.get_num_threads(), H)
    zeros = hidden.new_zeros(H)
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(weight_hh):
        from_after = hidden.new_zeros(sizes[0], H)
        gates_at, cell_at, lower_at, grad_hidden_at, grad_cell_at, grad_lower_at = (
            Rows(x, s) for x in (gates, cell, lower, grad_hidden, grad_cell, grad_lower)
        )
        of_features = [Rows(x, s)[0] for x in vectors]
        for t in range(len(sizes) - 1, -1, -1):
            n, start = sizes[t], starts[t]
            recurrent, num_after = zeros, 0
            if t + 1 < len(sizes):
                after = gates[s, starts[t + 1] : starts[t + 2], :R]
                recurrent, num_after = product(after, weight.t()), sizes[t + 1]  # (num_after, H)
            _lstm_steps.read_back(
                gates.dtype == torch.float64,
                *threads(n * gates.size(-1)),
                n,
                n if t > 0 else 0,
                num_after,
                H,
                gates_at[start],
                cell_at[start],
                cell_at[starts[t - 1] if t > 0 else 0],
                lower_at[start],
                *of_features,
                zeros.data_ptr(),
                grad_hidden_at[start],
                recurrent.data_ptr(),
                grad_cell_at[start],
                from_after.data_ptr(),
                grad_lower_at[start],
                by_left_weight[s].data_ptr(),
            )
    if grad_left_weight is not None:
        grad_left_weight += by_left_weight.sum(1, keepdim=True)
