"""SuBiLSTM's cells compiled for CPUs: one pass over memory per step, apart from the product."""

from collections.abc import Iterable, Sequence
from typing import Optional

from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedStep
from allennlp_sentmatch.nn.ops.common.native import address
from allennlp_sentmatch.nn.ops.subilstm.eager import GRUCell, LSTMCell
from allennlp_sentmatch.nn.ops.subilstm.tables import SuffixTables

#: A product of this many rows is as fast as a larger one, and its result is still in the
#: processor's caches for the next pass. Larger results would be new memory from the system.
MAX_ROWS = 1024


class NativeLSTMCell(LSTMCell):
    """`LSTMCell` with a single pass over memory, for tensors on the CPU."""

    max_rows = MAX_ROWS

    @staticmethod
    def forward(
        backend: Backend,
        x: Tensor,
        u: Optional[Iterable[Tensor]],
        states: Sequence[Tensor],
        gates: Tensor,
        kept: Sequence[Tensor],
    ) -> None:
        """Advance the states; the parameters are those of `LSTMCell.forward`."""
        hidden, cell = states
        tables = {"gates": gates, "kept_left": kept[0], "kept": kept[1]} if kept else {}
        _run("lstm_forward", {"hidden": hidden, "cell": cell, "left": cell}, tables, x, u)

    @staticmethod
    def backward(grads: Sequence[Tensor], tables: SuffixTables, out: Tensor) -> None:
        """Turn gradients of h', c' into those of h, c; parameters as in `LSTMCell.backward`."""
        kept_left, kept = tables.kept
        others = {"gates": tables.gates, "kept_left": kept_left, "kept": kept, "grad_gates": out}
        _run("lstm_backward", {"grad_hidden": grads[0], "carried": grads[1]}, others)


class NativeGRUCell(GRUCell):
    """`GRUCell` with a single pass over memory; it keeps u_n, and the gates hold n in its block."""

    max_rows = MAX_ROWS

    @staticmethod
    def forward(
        backend: Backend,
        x: Tensor,
        u: Optional[Iterable[Tensor]],
        states: Sequence[Tensor],
        gates: Tensor,
        kept: Sequence[Tensor],
    ) -> None:
        """Advance the states; the parameters are those of `LSTMCell.forward`."""
        tables = {"gates": gates, "kept": kept[0]} if kept else {}
        _run("gru_forward", {"hidden": states[0], "left": states[0]}, tables, x, u)

    @staticmethod
    def backward(grads: Sequence[Tensor], tables: SuffixTables, out: Tensor) -> None:
        """Turn gradients of h' into those of h; the parameters are those of `LSTMCell.backward`."""
        others = {"gates": tables.gates, "kept": tables.kept[0], "left": tables.hidden}
        _run("gru_backward", {"carried": grads[0]}, {**others, "grad_gates": out})


def _run(
    function: str,
    states: dict[str, Tensor],
    tables: dict[str, Tensor],
    x: Optional[Tensor] = None,
    u: Optional[Iterable[Tensor]] = None,
) -> None:
    """Run the step of each direction.

    The tables have the names of `GatedStep`, and shapes (S, R, N, width); `x` may be (S, 1, N, GH).
    `states` are slices of the states of all suffixes, or of their gradients.
    """
    like = next(iter(states.values()))
    S, R, N, H = like.shape
    GH = (tables["gates"] if x is None else x).size(3)
    if any(state.stride() != like.stride() for state in states.values()):
        raise ValueError("expected states with the same strides")
    addresses = {name: _addresses(state, (S, R, N, H), like) for name, state in states.items()}
    for name, table in tables.items():
        width = GH if name in ("gates", "grad_gates") else H
        addresses[name] = _addresses(table, (S, R, N, width), like, is_contiguous=True)
    x_step = 0
    if x is not None:
        suffixes = 1 if x.size(1) == 1 else R  # which may share a token
        addresses["x"] = _addresses(x, (S, suffixes, N, GH), like)
        x_step = 0 if suffixes == 1 else x.stride(1)
    zeros = like.new_zeros(GH) if u is None else None
    step = GatedStep(
        like,
        n=R * N,
        block=N,
        H=H,
        x_step=x_step,
        state_step=like.stride(1),
        recurrent_width=GH,
        zeros=0 if zeros is None else zeros.data_ptr(),
    )
    for s, recurrent in enumerate([None] * S if u is None else u):
        for name, of_directions in addresses.items():
            setattr(step, name, of_directions[s])
        step.recurrent = address(recurrent, (R * N, GH), like)
        step.run(function)


def _addresses(
    x: Tensor, shape: tuple[int, ...], like: Tensor, is_contiguous: bool = False
) -> list[int]:
    """Return the address of the rows (R, N, width) of each direction.

    The C++ trusts that the N rows are contiguous, and of most tables also the R blocks of them.

    # Raises

    `ValueError`
        If that is not so, or `x` differs from `shape` or in precision or device from `like`.
    """
    _, R, N, width = shape
    by_direction, by_suffix, by_sentence, by_number = x.stride()
    if x.shape != shape or x.dtype != like.dtype or x.device.type != "cpu":
        raise ValueError(
            f"expected {shape} of {like.dtype} on the CPU, "
            f"got {tuple(x.shape)} of {x.dtype} on {x.device}"
        )
    if (
        (by_number != 1 and width > 1)
        or (by_sentence != width and N > 1)
        or (is_contiguous and by_suffix != N * width and R > 1)
    ):
        raise ValueError(f"expected contiguous rows, got strides {x.stride()} of {shape}")
    first, step = x.data_ptr(), by_direction * x.element_size()
    return [first + s * step for s in range(shape[0])]
