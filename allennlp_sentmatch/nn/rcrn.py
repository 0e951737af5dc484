r"""Recurrently controlled recurrent network (RCRN): recurrent networks as the gates of another.

Tay, Luu and Hui, "Recurrently Controlled Recurrent Networks" (NeurIPS 2018). With h1 and h2 the
outputs of the controller's two networks (eqs 1-9) and h3 the listener's (eqs 10-14),

    f_t = sigmoid(h1_t),   o_t = sigmoid(h2_t)
    c_t = f_t * c_{t-1} + (1 - f_t) * h3_t,   c_0 = 0      (15)
    h_t = o_t * c_t                                        (16)

Equation 16 is printed without the sigmoid, but the text below it says that sigmoid(h2) acts as the
output gate; both are implemented. Its printed c3_t, which is the listener's, would leave c_t
unused.
"""

from typing import Literal, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_choice, check_positive
from allennlp_sentmatch.nn.configured_module import SequenceEncoder
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.rcrn.recurrence import controlled_recurrence
from allennlp_sentmatch.nn.padding import check_padded, clear_padding
from allennlp_sentmatch.nn.recurrent_networks import Network, precision_of, run_networks


class RecurrentlyControlledRNN(SequenceEncoder):
    """The RCRN of Tay et al. (2018); equations in the module's docstring.

    Its submodules `forget_controller`, `output_controller` and `listener` are one-layer
    `torch.nn.LSTM`s or `torch.nn.GRU`s: the networks of h1, h2 and h3. The recurrence of equation
    15 runs from left to right over all dimensions, including the right-to-left direction's.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of one direction of each of the three networks.
    cell : `str`, optional (default = `"lstm"`)
        The kind of the three networks: "lstm" or "gru".
    bidirectional : `bool`, optional (default = `True`)
        Whether they run over the sentence in both directions.
    output_gate : `str`, optional (default = `"sigmoid"`)
        o_t: "sigmoid" of h2_t, or "identity", h2_t itself.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        cell: Literal["lstm", "gru"] = "lstm",
        bidirectional: bool = True,
        output_gate: Literal["sigmoid", "identity"] = "sigmoid",
    ) -> None:
        super().__init__()
        check_positive(input_size=input_size, hidden_size=hidden_size)
        check_choice("lstm", "gru", cell=cell)
        check_choice("sigmoid", "identity", output_gate=output_gate)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.cell = cell
        self.bidirectional = bidirectional
        self.output_gate = output_gate

        self.forget_controller = self._network()
        self.output_controller = self._network()
        self.listener = self._network()

    def _network(self) -> Network:
        kind = torch.nn.LSTM if self.cell == "lstm" else torch.nn.GRU
        return kind(
            self.input_size,
            self.hidden_size,
            batch_first=True,
            bidirectional=self.bidirectional,
        )

    def forward(self, inputs: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        """Encode a batch of sentences; see `SequenceEncoder`."""
        dtype = precision_of(self.listener)
        inputs, full_mask = check_padded(inputs, mask, self.input_size, dtype)
        networks = (self.forget_controller, self.output_controller, self.listener)
        h1, h2, h3 = run_networks(networks, inputs, mask)  # (B, T, output_size)
        # The rest has no products, and autocast narrows only products.
        with without_autocast(inputs.device):
            f = h1.sigmoid()
            c = controlled_recurrence(f, h3)  # (15)
            o = h2.sigmoid() if self.output_gate == "sigmoid" else h2
            return clear_padding(o * c, full_mask)
