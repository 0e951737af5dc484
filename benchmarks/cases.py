"""The encoders to measure, each with the torch.nn.LSTM that it is compared with."""

from dataclasses import dataclass
from typing import Callable

from torch import nn

from allennlp_sentmatch.nn import (
    LSTMN,
    CellAwareLSTM,
    GumbelTreeLSTM,
    RecurrentlyControlledRNN,
    SuffixBiLSTM,
)


def lstm_products(input_size: int, hidden_size: int, num_layers: int, num_directions: int) -> int:
    """Return the number of multiplications for each token in the matrix products of an LSTM."""
    H = hidden_size
    S = num_directions
    widths = [input_size] + [S * H] * (num_layers - 1)
    return sum(S * 4 * H * (width + H) for width in widths)


@dataclass(frozen=True)
class Case:
    """An encoder and its baseline, both with the sizes below."""

    name: str
    encoder: Callable[[], nn.Module]
    #: Multiplications for each token in the encoder's products, in a sentence of T tokens.
    products: Callable[[int], float]
    #: Measured peak memory of a training step with the default and with the naive backend:
    #: (a, b) for (a + b * T) * B * T * H numbers. Settings that do not fit into memory are left
    #: out.
    memory: tuple[float, float]
    naive_memory: tuple[float, float]
    input_size: int = 300
    hidden_size: int = 300
    baseline_layers: int = 1
    baseline_bidirectional: bool = False

    @property
    def baseline_name(self) -> str:
        """Return the baseline's name in a table."""
        kind = "BiLSTM" if self.baseline_bidirectional else "LSTM"
        return f"{self.baseline_layers}-layer {kind}"

    def baseline(self) -> nn.LSTM:
        """Construct the baseline."""
        return nn.LSTM(
            self.input_size,
            self.hidden_size,
            self.baseline_layers,
            batch_first=True,
            bidirectional=self.baseline_bidirectional,
        )

    def training_bytes(self, num_tokens: int, batch_size: int, naive: bool) -> float:
        """Return the approximate peak memory of a training step."""
        constant, slope = self.naive_memory if naive else self.memory
        numbers = batch_size * num_tokens * self.hidden_size * (constant + slope * num_tokens)
        return 4 * numbers

    def arithmetic_ratio(self, num_tokens: int) -> float:
        """Return the multiplications divided by the baseline's: a lower bound for the time."""
        directions = 2 if self.baseline_bidirectional else 1
        return self.products(num_tokens) / lstm_products(
            self.input_size, self.hidden_size, self.baseline_layers, directions
        )


def _cas_lstm(directions: int) -> Case:
    H = 300
    return Case(
        name="cas_lstm" if directions == 1 else "cas_lstm, bidirectional",
        encoder=lambda: CellAwareLSTM(H, H, num_layers=2, bidirectional=directions == 2),
        products=lambda T: directions * (4 * H * 2 * H + 5 * H * 2 * H),
        memory=(directions * 40, 0),
        naive_memory=(directions * 60, 0),
        baseline_layers=2,
        baseline_bidirectional=directions == 2,
    )


#: The tokens in a suffix of SuBiLSTM with bounded context.
CONTEXT = 16

CASES = [
    _cas_lstm(1),
    _cas_lstm(2),
    Case(
        name="rcrn",
        encoder=lambda: RecurrentlyControlledRNN(300, 200),
        products=lambda T: 3 * lstm_products(300, 200, 1, 2),
        memory=(120, 0),
        naive_memory=(120, 0),
        hidden_size=200,
        baseline_layers=3,
        baseline_bidirectional=True,
    ),
    Case(
        name="subilstm",
        encoder=lambda: SuffixBiLSTM(300, 300),
        # In each direction, a token is projected once, and read by (T + 1) / 2 suffixes on average.
        products=lambda T: 2 * 4 * 300 * (300 + 300 * (T + 1) / 2),
        memory=(250, 0.2),
        naive_memory=(100, 21),
        baseline_bidirectional=True,
    ),
    Case(
        name=f"subilstm, context of {CONTEXT}",
        encoder=lambda: SuffixBiLSTM(300, 300, max_context=CONTEXT),
        # A token is read by as many suffixes as the context, or by all that began before it.
        products=lambda T: (
            2 * 4 * 300 * (300 + 300 * sum(min(t, CONTEXT) for t in range(1, T + 1)) / T)
        ),
        memory=(100, 0),  # for long sentences, whose steps are computed twice
        naive_memory=(100, 21),
        baseline_bidirectional=True,
    ),
    Case(
        name="lstmn",
        encoder=lambda: LSTMN(300, 300),
        # For each token, projections of h, x and h~ to the attention's size; for each earlier
        # token, a score, and the weighting of its h and c.
        products=lambda T: lstm_products(300, 300, 1, 1) + 3 * 300**2 + (T - 1) / 2 * 3 * 300,
        memory=(50, 0),
        naive_memory=(50, 3),
    ),
    Case(
        name="gumbel_tree_lstm",
        encoder=lambda: GumbelTreeLSTM(300, 300),
        # An LSTM for the leaves; each of the 2 T - 1 nodes is projected once as a left child and
        # once as a right child.
        products=lambda T: lstm_products(300, 300, 1, 1) + (2 * T - 1) / T * 5 * 300 * 2 * 300,
        memory=(120, 0),
        naive_memory=(200, 5),
    ),
]
