r"""`suffix_cells.LSTMCell` compiled for CPUs: all of a step but its product is one pass.

As in `lstm_layer_compiled`, which says what compiled steps are for.
"""

from collections.abc import Sequence
from typing import Optional

import torch

from allennlp_sentmatch.nn.kernels.openmp import threads
from allennlp_sentmatch.nn.kernels.suffix_cells import LSTMCell

try:
    from allennlp_sentmatch.nn.kernels import _suffix_steps
except ImportError:  # the package was installed without a compiler
    IS_COMPILED = False
else:
    IS_COMPILED = True

Tensors = Sequence[torch.Tensor]


class CompiledLSTMCell(LSTMCell):
    """An `LSTMCell` for tensors on the CPU."""

    @staticmethod
    def forward(
        x: torch.Tensor,
        u: Optional[Tensors],
        states: Tensors,
        gates: torch.Tensor,
        kept: Tensors,
    ) -> None:
        """As `LSTMCell.forward`."""
        hidden, cell = states
        S, R, N, H = hidden.shape
        for s in range(S):
            _suffix_steps.read(
                hidden.dtype == torch.float64,
                *threads(R * N * 4 * H),
                R,
                N,
                H,
                x.stride(1) if x.size(1) > 1 else 0,
                hidden.stride(1),
                _address(x, s),
                0 if u is None else u[s].data_ptr(),
                _address(hidden, s),
                _address(cell, s),
                *([_address(room, s) for room in (gates, *kept)] if kept else (0, 0, 0)),
            )

    @staticmethod
    def backward(
        grads: Tensors,
        old_hidden: torch.Tensor,
        gates: torch.Tensor,
        kept: Tensors,
        out: torch.Tensor,
    ) -> None:
        """As `LSTMCell.backward`."""
        S, R, N, H = grads[0].shape
        for s in range(S):
            _suffix_steps.read_back(
                out.dtype == torch.float64,
                *threads(R * N * 4 * H),
                R,
                N,
                H,
                grads[0].stride(1),
                *(_address(x, s) for x in (*grads, gates, *kept, out)),
            )


def _address(x: torch.Tensor, s: int) -> int:
    """Where the part for direction `s` begins; faster than to index."""
    return x.data_ptr() + s * x.stride(0) * x.element_size()
