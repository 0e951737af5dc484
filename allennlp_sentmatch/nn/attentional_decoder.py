r"""A decoder with attention to a source.

Luong, Pham and Manning, "Effective Approaches to Attention-based Neural Machine Translation" (EMNLP
2015), as in the baseline of CAS-LSTM's section 4.4. With e_j the embedding of the target token
before step j, s_1, ..., s_S the encoder's outputs, and h_j the top hidden state of a stack of
recurrent layers,

    h_j = layers([e_j; a_{j-1}])                        a_0 = 0
    c_j = sum_i w_ji s_i,   w_j = attention(h_j, s)     weights that sum to 1 over the source
    a_j = tanh(W_o [c_j; h_j])                          no bias

a_j, the attentional vector, predicts the next token. It is fed back after its dropout.
Without input feeding h_j = layers(e_j), and all steps of a known target are read at once.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from allennlp_sentmatch.nn.checks import check_fraction, check_positive
from allennlp_sentmatch.nn.recurrent_decoders import DecoderState, RecurrentDecoder


class AttentionalState(NamedTuple):
    """The states of the recurrent layers after a step, and a_j (B, A) after its dropout."""

    layers: DecoderState
    attentional: Tensor


class AttentionalDecoder(nn.Module):
    """Decodes with attention; equations in the module's docstring.

    # Parameters

    decoder : `RecurrentDecoder`
        The recurrent layers, such as `LSTMDecoder`. With `input_feeding` its `input_size` is the
        size of the embeddings plus `output_size`.
    attention : `nn.Module`
        Called with h_j (B, H), the encoder's outputs (B, S, E) and the source's mask (B, S), it
        gives the weights w_j (B, S).
    encoder_size : `int`
        The width of the encoder's outputs (E).
    output_size : `int`
        The width of the attentional vectors (A).
    dropout : `float`, optional (default = `0.0`)
        The dropout probability of the attentional vectors.
    input_feeding : `bool`, optional (default = `True`)
        Whether the recurrent layers also read the attentional vector of the step before.
    """

    def __init__(
        self,
        decoder: RecurrentDecoder,
        attention: nn.Module,
        encoder_size: int,
        output_size: int,
        dropout: float = 0.0,
        input_feeding: bool = True,
    ) -> None:
        super().__init__()
        check_positive(encoder_size=encoder_size, output_size=output_size)
        check_fraction(dropout=dropout)
        self.decoder = decoder
        self.attention = attention
        self.output_projection = nn.Linear(
            encoder_size + decoder.hidden_size, output_size, bias=False
        )
        self.dropout = nn.Dropout(dropout)
        self.input_feeding = input_feeding
        self.output_size = output_size

    def initial_state(self, layers: DecoderState) -> AttentionalState:
        """Return the state before the first step, from the state of the recurrent layers."""
        hidden = layers.hidden  # (B, L, H)
        return AttentionalState(layers, hidden.new_zeros(hidden.size(0), self.output_size))

    def step(
        self,
        embedded: Tensor,
        state: AttentionalState,
        encoder_outputs: Tensor,
        source_mask: Tensor,
    ) -> tuple[Tensor, AttentionalState]:
        """Take one step with e_j, `embedded` (B, D), from the state before it.

        The encoder's outputs are (B, S, E), finite at padding as well, and their mask (B, S).
        Return the weights of the source's tokens, (B, S), and the state after the step, whose
        `attentional` is a_j.
        """
        inputs = embedded
        if self.input_feeding:
            inputs = torch.cat([embedded, state.attentional], -1)
        hidden, layers = self.decoder.step(inputs, state.layers)  # (B, H)
        weights = self.attention(hidden, encoder_outputs, source_mask)  # (B, S)
        step = hidden.unsqueeze(1)
        attentional = self._attentional(step, weights.unsqueeze(1), encoder_outputs)  # (B, 1, A)
        return weights, AttentionalState(layers, attentional.squeeze(1))

    def forward(
        self,
        embedded: Tensor,
        state: AttentionalState,
        encoder_outputs: Tensor,
        source_mask: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Take all steps of a known target (teacher forcing).

        Its tokens are `embedded` (B, T, D), of at least one step; padding comes last, and its
        results have no meaning. The other arguments are as for `step`. Return the attentional
        vectors (B, T, A) and the weights of the source's tokens (B, T, S).
        """
        check_positive(num_steps=embedded.size(1))
        if not self.input_feeding:
            hidden, _ = self.decoder(embedded, state.layers)  # (B, T, H)
            by_step = [self.attention(h, encoder_outputs, source_mask) for h in hidden.unbind(1)]
            weights = torch.stack(by_step, 1)  # (B, T, S)
            return self._attentional(hidden, weights, encoder_outputs), weights
        attentional_steps = []
        weight_steps = []
        for token in embedded.unbind(1):  # (B, D)
            weights, state = self.step(token, state, encoder_outputs, source_mask)
            weight_steps.append(weights)
            attentional_steps.append(state.attentional)
        return torch.stack(attentional_steps, 1), torch.stack(weight_steps, 1)

    def _attentional(
        self,
        hidden: Tensor,
        weights: Tensor,
        encoder_outputs: Tensor,
    ) -> Tensor:
        """Return a_j after dropout (B, T, A), from h_j (B, T, H) and w_j (B, T, S)."""
        context = torch.bmm(weights, encoder_outputs)  # (B, T, E)
        projected = self.output_projection(torch.cat([context, hidden], -1))
        attentional: Tensor = self.dropout(torch.tanh(projected))
        return attentional
