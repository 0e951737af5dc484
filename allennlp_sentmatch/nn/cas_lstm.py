r"""Cell-aware stacked LSTM (CAS-LSTM): a layer also takes the memory cells of the layer below.

Choi, Kim and Lee, "Cell-aware Stacked LSTMs for Modeling Sentences" (ACML 2019). Layer 0 is an
LSTM (eqs 1-6). With h, c the layer's own states and h', c' the states of the layer below, each
further layer computes (eqs 7-13)

    i_t = sigmoid(W_i h'_t + U_i h_{t-1} + b_i),   f_t, o_t, v_t likewise
    g_t = tanh(W_g h'_t + U_g h_{t-1} + b_g)
    c_t = i_t * g_t + (1 - lambda) * f_t * c_{t-1} + lambda * v_t * c'_t
    h_t = o_t * tanh(c_t)

where g is the paper's candidate c-tilde and v, the vertical forget gate, the paper's g_t^l. Without
lambda (section 4.6, variant ii) both cells have the weight 1. The peephole variant (eqs 17-18) has
no lambda either, and its vertical gate takes the cells instead of the left hidden state:

    v_t = sigmoid(W_v h'_t + p_left * c_{t-1} + p_lower * c'_t + b_v)
"""

import warnings
from collections.abc import Iterator
from typing import Any, Literal, Optional, Union

import torch
from torch import Tensor, nn

from allennlp_sentmatch.nn.checks import (
    check_choice,
    check_fraction,
    check_kind,
    check_positive,
    either,
    number,
    one_of,
    optional,
)
from allennlp_sentmatch.nn.configured_module import LayeredEncoder, uniform_parameter
from allennlp_sentmatch.nn.ops.cas_lstm.naive import LayerStack, LayerWeights
from allennlp_sentmatch.nn.ops.cas_lstm.recurrence import final_states, lstm_recurrence
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter
from allennlp_sentmatch.nn.padding import check_padded

_VERTICAL_WEIGHT = optional(either(number(above=0, below=1), one_of("trainable")))


class CellAwareLSTM(LayeredEncoder):
    """The cell-aware stacked LSTM of Choi et al. (2019); equations in the module's docstring.

    Layer `k` has the parameters below. Their blocks of `hidden_size` (H) rows are in the order
    i, f, g, o of `torch.nn.LSTM`, followed by v in the layers from 1 on.

    - `weight_ih_l{k}` (4H or 5H, input_size or H), `weight_hh_l{k}` (4H or 5H, H), `bias_l{k}`
      (4H or 5H);
    - with `vertical_weight="trainable"`, from layer 1 on, `vertical_logit_l{k}` (H), whose sigmoid
      is lambda;
    - with `vertical_gate="peephole"`, from layer 1 on, `peephole_left_l{k}` and
      `peephole_lower_l{k}` (H), while `weight_hh_l{k}` has no block v.

    A bidirectional encoder has a second stack, from right to left, with names in "_reverse".

    # Parameters

    input_size : `int`
        The width of the inputs.
    hidden_size : `int`
        The width of one direction's states (H).
    num_layers : `int`, optional (default = `2`)
        The number of layers. With one, this is an LSTM.
    bidirectional : `bool`, optional (default = `False`)
        Whether a second stack runs from right to left.
    vertical_weight : `Union[float, str]`, optional (default = `0.5`)
        Lambda, the weight of the lower cell in eq. 12, between 0 and 1 exclusive; the left cell's
        is 1 - lambda. "trainable" learns one for each dimension, starting at 0.5. `None` leaves
        both weights out. `vertical_gate="peephole"` has neither: leave this out there.
    vertical_gate : `str`, optional (default = `"hidden"`)
        The states that the vertical gate takes in addition to the layer's inputs: "hidden", the
        left hidden state (eq. 9); "peephole", the left and the lower cell (eq. 17).
    dropout : `float`, optional (default = `0.0`)
        The dropout probability of the hidden states between two layers. The cells have none.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 2,
        bidirectional: bool = False,
        vertical_weight: Union[float, Literal["trainable"], None] = 0.5,
        vertical_gate: Literal["hidden", "peephole"] = "hidden",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_positive(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        check_choice("hidden", "peephole", vertical_gate=vertical_gate)
        if vertical_gate == "peephole" and vertical_weight not in (0.5, None):
            raise ValueError(
                f"vertical_weight={vertical_weight!r} has no effect with "
                'vertical_gate="peephole", which has no vertical weight; leave it out'
            )
        check_kind(_VERTICAL_WEIGHT, vertical_weight=vertical_weight)
        check_fraction(dropout=dropout)
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                f"dropout={dropout} acts between layers and has no effect with num_layers=1",
                stacklevel=2,
            )
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bidirectional = bidirectional
        self.vertical_weight = _VERTICAL_WEIGHT.convert(vertical_weight)
        self.vertical_gate = vertical_gate
        self.dropout = dropout
        for layer in range(num_layers):
            for suffix in self._suffixes:
                for name, shape in self._parameter_shapes(layer):
                    if name == "vertical_logit":  # a trainable lambda starts at 0.5
                        parameter = nn.Parameter(torch.zeros(shape))
                    else:
                        parameter = uniform_parameter(*shape, bound=hidden_size**-0.5)
                    self.register_parameter(f"{name}_l{layer}{suffix}", parameter)

    def _parameter_shapes(self, layer: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield the name, without its suffix, and the shape of each parameter of a layer."""
        H = self.hidden_size
        peephole = self.vertical_gate == "peephole"
        rows = 5 * H if layer else 4 * H
        yield "weight_ih", (rows, H if layer else self.input_size)
        yield "weight_hh", (4 * H if peephole else rows, H)
        yield "bias", (rows,)
        if layer and peephole:
            yield "peephole_left", (H,)
            yield "peephole_lower", (H,)
        elif layer and self.vertical_weight == "trainable":
            yield "vertical_logit", (H,)

    def forward(
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
        return_gates: bool = False,
        return_states: bool = False,
        initial_states: Optional[tuple[Tensor, Tensor]] = None,
    ) -> Any:
        """Encode a batch of sentences; see `SequenceEncoder`.

        With `return_gates`, which only the backend "naive" has, also return the gates and the
        memory cells: for each layer a `CellAwareLSTMGates` for each direction. With
        `return_states`, return the result of `last_states`; an empty sentence keeps the
        `initial_states`. They are h and c before the first token, (B, num_layers, hidden_size)
        each, zero by default; a bidirectional encoder takes none.
        """
        if return_gates and return_states:
            raise ValueError("return_gates and return_states cannot both be true; choose one")
        layers = [
            [self.layer_weights(layer, suffix) for suffix in self._suffixes]
            for layer in range(self.num_layers)
        ]
        stack = LayerStack(layers, self.dropout, self.training)
        inputs, full_mask = check_padded(inputs, mask, self.input_size, layers[0][0].bias.dtype)
        first = 0 if return_gates or return_states else self.num_layers - 1
        if initial_states is not None:
            hidden, cell = initial_states
            initial_states = (cast_to_parameter(hidden, inputs), cast_to_parameter(cell, inputs))
        states = lstm_recurrence(inputs, mask, stack, initial_states, first, return_gates)
        outputs = states[-1].hidden
        if return_gates:
            return outputs, [layer.gates for layer in states]
        if return_states:
            return (outputs, *final_states(states, full_mask, len(layers[0]), initial_states))
        return outputs

    def layer_weights(self, layer: int, suffix: str = "") -> LayerWeights:
        """Return the parameters of a layer in one direction, with lambda computed."""
        named = {
            name: getattr(self, f"{name}_l{layer}{suffix}")
            for name, _ in self._parameter_shapes(layer)
        }
        weight = self.vertical_weight
        if not layer or weight is None or self.vertical_gate == "peephole":
            return LayerWeights(**named)
        if isinstance(weight, str):  # "trainable"
            logit = named.pop("vertical_logit")
            return LayerWeights(
                **named, left_weight=torch.sigmoid(-logit), lower_weight=torch.sigmoid(logit)
            )
        return LayerWeights(**named, left_weight=1 - weight, lower_weight=weight)
