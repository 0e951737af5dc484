"""The decoder with attention against its equations, one sentence at a time."""

from unittest import mock

import pytest
import torch
from torch import nn

from allennlp_sentmatch.nn import AttentionalDecoder, DecoderState, LSTMDecoder
from tests.nn.equations import assert_same

B = 3
S = 5
T = 4
E = 7
D = 2
H = 6
A = 3


class Bilinear(nn.Module):
    """Softmax of s W h over the unmasked rows."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(H, E))

    def forward(self, vector, matrix, mask):
        scores = torch.einsum("bh,he,bse->bs", vector, self.weight, matrix)
        return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)


def attentional(input_feeding=True, dropout=0.0):
    """Return a decoder, its inputs, first state and encoder's outputs, and the source's mask."""
    torch.manual_seed(0)
    layers = LSTMDecoder(D + A * input_feeding, H)
    decoder = AttentionalDecoder(layers, Bilinear(), E, A, dropout, input_feeding).double().eval()
    hidden, cell = torch.randn(2, B, 2, H, dtype=torch.double)
    state = decoder.initial_state(DecoderState(hidden, cell))
    embedded = torch.randn(B, T, D, dtype=torch.double)
    encoder_outputs = torch.randn(B, S, E, dtype=torch.double)
    mask = torch.arange(S) < torch.tensor([[5], [3], [1]])
    return decoder, embedded, state, encoder_outputs, mask


@pytest.mark.parametrize("input_feeding", [True, False])
def test_attentional_decoding_one_sentence_at_a_time(input_feeding):
    decoder, embedded, state, encoder_outputs, mask = attentional(input_feeding)
    vectors, weights = decoder(embedded, state, encoder_outputs, mask)
    W_o = decoder.output_projection.weight
    W_a = decoder.attention.weight
    for b in range(B):
        s = encoder_outputs[b, mask[b]]  # the source's own tokens
        layers = DecoderState(*(x[b : b + 1] for x in state.layers))
        a = torch.zeros(A, dtype=torch.double)
        for j in range(T):
            x = torch.cat([embedded[b, j], a]) if input_feeding else embedded[b, j]
            (h,), layers = decoder.decoder.step(x.unsqueeze(0), layers)
            w = torch.softmax(s @ W_a.T @ h, 0)
            a = torch.tanh(W_o @ torch.cat([w @ s, h]))
            assert_same(vectors[b, j], a)
            assert_same(weights[b, j, : len(s)], w)
            assert weights[b, j, len(s) :].eq(0).all()


def test_dropout_acts_on_what_is_fed_back():
    decoder, embedded, state, encoder_outputs, mask = attentional(dropout=0.5)
    decoder.train()
    _, after = decoder.step(embedded[:, 0], state, encoder_outputs, mask)
    step = mock.Mock(wraps=decoder.decoder.step)
    decoder.decoder.step = step
    decoder.step(embedded[:, 1], after, encoder_outputs, mask)
    inputs = step.call_args.args[0]
    torch.testing.assert_close(inputs[:, D:], after.attentional, rtol=0, atol=0)
    assert after.attentional.eq(0).any()


@pytest.mark.parametrize("input_feeding", [True, False])
def test_a_target_without_steps_is_refused(input_feeding):
    decoder, embedded, *others = attentional(input_feeding)
    with pytest.raises(ValueError, match="num_steps must be an integer of at least 1; got 0"):
        decoder(embedded[:, :0], *others)
