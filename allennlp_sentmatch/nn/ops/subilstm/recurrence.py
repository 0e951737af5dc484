r"""The recurrence of SuBiLSTM, only over the suffixes that have tokens left.

`naive` has the equations. In the other backends all suffixes begin at once; their first tokens
need no product, because their states are zero. Then, at token t, a single product advances the
suffixes that began at the tokens `first` ... t - 1. The sentences are sorted by length, longest
first, so that these suffixes and sentences are slices of the states. A sentence of T tokens costs
T (T - 1) / 2 rows of products. States are overwritten: the state of a finished suffix is its
encoding. The directions advance side by side and share everything except their products.

Evaluation keeps nothing else. In training, the analytic backward pass goes through the same steps
in reverse and needs each step's gates and previous states. These grow with the square of T. Unless
they are small, only the states before every few steps are saved, and the backward pass computes
these steps again, in one direction after the other. This takes a third more products, but the
memory grows only with T sqrt(T), or with T if there is a window.
"""

from collections.abc import Sequence
from typing import Literal, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autograd import differentiable
from allennlp_sentmatch.nn.ops.subilstm import naive, steps
from allennlp_sentmatch.nn.ops.subilstm.cells import Cell
from allennlp_sentmatch.nn.ops.subilstm.cpu_cells import NativeGRUCell, NativeLSTMCell
from allennlp_sentmatch.nn.ops.subilstm.eager_cells import EagerGRUCell, EagerLSTMCell
from allennlp_sentmatch.nn.ops.subilstm.naive import SuffixWeights
from allennlp_sentmatch.nn.ops.subilstm.schedule import Schedule

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "eager", "cpu")

#: By the names of a backend and of a cell.
CELLS: dict[tuple[str, str], type[Cell]] = {
    ("eager", "lstm"): EagerLSTMCell,
    ("eager", "gru"): EagerGRUCell,
    ("cpu", "lstm"): NativeLSTMCell,
    ("cpu", "gru"): NativeGRUCell,
}

#: Larger tables are recomputed in the backward pass. 32 sentences of 75 tokens or 128 of 37, with
#: 300 units, have tables of this size; smaller ones are faster to save.
MAX_SAVED_BYTES = 1536 * 2**20


def suffix_recurrence(
    tokens: Tensor,
    directions: Sequence[SuffixWeights],
    sizes: Union[list[int], Tensor],
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[Tensor, Tensor]:
    """Encode prefixes and suffixes of at most `window` tokens.

    The `tokens` are (S, T, B, D), the longest sentence first, in the order of each direction.
    `sizes` are the numbers of sentences that have a token t, for each of the T tokens. The backends
    "naive" and "scan" also take a tensor (T, B), bool, true where there is a token; then the
    sentences may be in any order. Only suffixes that begin at one of the `num_starts` first tokens
    are encoded.

    Return the encodings of the prefixes, (S, T, B, H), and of the suffixes, (S, num_starts, B, H),
    finite but without meaning at padding.
    """
    parameters = [parameter for weights in directions for parameter in weights]
    backend = resolve(f"SuBiLSTM with {cell} cells", IMPLEMENTATIONS, tokens, *parameters)
    if backend.name in ("naive", "scan"):
        return naive.suffix_recurrence(tokens, directions, sizes, window, num_starts, cell)
    assert isinstance(sizes, list)
    schedule = Schedule.of(tokens.size(2), sizes, window, num_starts)
    cell_class = CELLS[backend.name, cell]
    GH, H = directions[0].weight_hh_l0.shape
    numbers_of_row = GH + (cell_class.num_states + 1) * H  # gates, states and another value
    num_numbers = len(directions) * schedule.num_rows * numbers_of_row
    is_large = num_numbers * tokens.element_size() > MAX_SAVED_BYTES
    recomputes = is_large and torch.is_grad_enabled()
    parts = [slice(None)]
    if recomputes:  # one direction after the other
        schedule = schedule.for_recomputation()
        parts = [slice(s, s + 1) for s in range(len(directions))]
    prefixes = []
    suffixes = []
    for part in parts:
        prefix, suffix = differentiable(
            steps.forward,
            steps.backward,
            (backend, schedule, cell_class, recomputes),
            (tokens[part], list(directions[part])),
        )
        prefixes.append(prefix)
        suffixes.append(suffix)
    if len(parts) == 1:
        return prefixes[0], suffixes[0]
    return torch.cat(prefixes), torch.cat(suffixes)
