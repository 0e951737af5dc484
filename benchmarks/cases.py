"""What is measured: each encoder, and the torch.nn.LSTM that it is compared with."""

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
    """The multiplications in the matrix products of an LSTM, for each token."""
    H, S = hidden_size, num_directions
    widths = [input_size] + [S * H] * (num_layers - 1)
    return sum(S * 4 * H * (width + H) for width in widths)


@dataclass(frozen=True)
class Case:
    """An encoder and its baseline, both of the widths below."""

    name: str
    encoder: Callable[[], nn.Module]
    #: Multiplications in the encoder's products for each token of a sentence of T tokens.
    products: Callable[[int], float]
    #: The states that a training step keeps for each token, in multiples of H: a rough guess that
    #: tells which settings do not fit into memory.
    kept: Callable[[int], float]
    input_size: int = 300
    hidden_size: int = 300
    baseline_layers: int = 1
    baseline_bidirectional: bool = False

    @property
    def baseline_name(self) -> str:
        """What the baseline is called in a table."""
        kind = "BiLSTM" if self.baseline_bidirectional else "LSTM"
        return f"{self.baseline_layers}-layer {kind}"

    def baseline(self) -> nn.LSTM:
        """A new baseline."""
        return nn.LSTM(
            self.input_size,
            self.hidden_size,
            self.baseline_layers,
            batch_first=True,
            bidirectional=self.baseline_bidirectional,
        )

    def arithmetic_ratio(self, num_tokens: int) -> float:
        """The encoder's multiplications by the baseline's: the least that its time can come to."""
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
        kept=lambda T: directions * 20,
        baseline_layers=2,
        baseline_bidirectional=directions == 2,
    )


CASES = [
    _cas_lstm(1),
    _cas_lstm(2),
    Case(
        name="rcrn",
        encoder=lambda: RecurrentlyControlledRNN(300, 200),
        products=lambda T: 3 * lstm_products(300, 200, 1, 2),
        kept=lambda T: 50,
        hidden_size=200,
        baseline_layers=3,
        baseline_bidirectional=True,
    ),
    Case(
        name="subilstm",
        encoder=lambda: SuffixBiLSTM(300, 300),
        # A token is projected once and read by T (T + 1) / 2 / T suffixes, in each direction.
        products=lambda T: 2 * 4 * 300 * (300 + 300 * (T + 1) / 2),
        kept=lambda T: 2 * 7 * (T + 1) / 2,
        baseline_bidirectional=True,
    ),
    Case(
        name="lstmn",
        encoder=lambda: LSTMN(300, 300),
        # A projection to the attention's width of h, x and h~ for each token; a score, and a
        # weight for h and for c, for each token before it.
        products=lambda T: lstm_products(300, 300, 1, 1) + 3 * 300**2 + (T - 1) / 2 * 3 * 300,
        kept=lambda T: 10 + T,
    ),
    Case(
        name="gumbel_tree_lstm",
        encoder=lambda: GumbelTreeLSTM(300, 300),
        # An LSTM for the leaves; each of the 2 T - 1 nodes is projected once for either side.
        products=lambda T: lstm_products(300, 300, 1, 1) + (2 * T - 1) / T * 5 * 300 * 2 * 300,
        kept=lambda T: 40,
    ),
]
