"""The recurrence of RCRN, c_t = f_t * c_{t-1} + (1 - f_t) * x_t.

On a CPU it takes so little of RCRN's time that an analytic backward pass gains nothing.
"""

from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.rcrn import naive, parallel

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "parallel")


def controlled_recurrence(forget: Tensor, values: Tensor) -> Tensor:
    """Run the recurrence from left to right.

    # Parameters

    forget, values : `Tensor`
        f and x, of shape (B, T, E).

    # Returns

    `Tensor`
        c, of shape (B, T, E).
    """
    name = resolve("RCRN", IMPLEMENTATIONS, forget, values).name
    if name == "parallel":
        return parallel.controlled_recurrence(forget, values)
    return naive.controlled_recurrence(forget, values)
