"""The recurrence of RCRN (Tay et al., 2018, eq. 15), token by token."""

from torch import Tensor

from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan


def controlled_recurrence(forget: Tensor, values: Tensor) -> Tensor:
    """c_t = f_t * c_{t-1} + (1 - f_t) * x_t from left to right, of f and x (B, T, E)."""

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        (c,), (f, x) = state, at_step  # (B, E)
        c = f * c + (1 - f) * x
        return (c,), (c,)

    initial = values.new_zeros(values.size(0), values.size(2))
    _, (cells,) = scan(step, (initial,), (forget.transpose(0, 1), values.transpose(0, 1)))
    return cells.transpose(0, 1)
