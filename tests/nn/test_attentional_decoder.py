import pytest
import torch
from torch import nn

from allennlp_sentmatch.nn import AttentionalDecoder, DecoderState, LSTMDecoder

B, S, T, E, D, H, A = 3, 5, 4, 7, 2, 6, 3


class Bilinear(nn.Module):
    """Softmax of s W h over the unmasked rows."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(H, E))

    def forward(self, vector, matrix, mask):
        scores = torch.einsum("bh,he,bse->bs", vector, self.weight, matrix)
        return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)


def make(input_feeding=True, dropout=0.0):
    torch.manual_seed(0)
    layers = LSTMDecoder(D + A * input_feeding, H)
    decoder = AttentionalDecoder(layers, Bilinear(), E, A, dropout, input_feeding).double().eval()
    state = decoder.initial_state(DecoderState(*torch.randn(2, B, 2, H, dtype=torch.double)))
    mask = torch.arange(S) < torch.tensor([[5], [3], [1]])
    return (
        decoder,
        torch.randn(B, T, D, dtype=torch.double),
        state,
        torch.randn(B, S, E, dtype=torch.double),
        mask,
    )


@pytest.mark.parametrize("input_feeding", [True, False])
def test_the_equations_one_sentence_at_a_time(input_feeding):
    decoder, embedded, state, encoder_outputs, mask = make(input_feeding)
    attentional, weights = decoder(embedded, state, encoder_outputs, mask)
    W_o, W_a = decoder.output_projection.weight, decoder.attention.weight
    for b in range(B):
        s = encoder_outputs[b, mask[b]]  # the source's own tokens
        layers = DecoderState(*(x[b : b + 1] for x in state.layers))
        a = torch.zeros(A, dtype=torch.double)
        for j in range(T):
            x = torch.cat([embedded[b, j], a]) if input_feeding else embedded[b, j]
            h, layers = decoder.decoder.step(x.unsqueeze(0), layers)
            w = torch.softmax(s @ W_a.T @ h[0], 0)
            a = torch.tanh(W_o @ torch.cat([w @ s, h[0]]))
            torch.testing.assert_close(attentional[b, j], a, rtol=0, atol=1e-10)
            torch.testing.assert_close(weights[b, j, : len(s)], w, rtol=0, atol=1e-10)
            assert weights[b, j, len(s) :].eq(0).all()


def test_gradients():
    decoder, embedded, state, encoder_outputs, mask = make()
    leaves = [x.requires_grad_() for x in (embedded, encoder_outputs, *state.layers)]

    def decode(embedded, encoder_outputs, hidden, cell):
        start = decoder.initial_state(DecoderState(hidden, cell))
        return decoder(embedded, start, encoder_outputs, mask)

    assert torch.autograd.gradcheck(decode, leaves)


def test_dropout_acts_on_what_is_fed_back():
    decoder, embedded, state, encoder_outputs, mask = make(dropout=0.5)
    decoder.train()
    _, after = decoder.step(embedded[:, 0], state, encoder_outputs, mask)
    fed = []
    step = decoder.decoder.step
    decoder.decoder.step = lambda inputs, layers: fed.append(inputs) or step(inputs, layers)
    decoder.step(embedded[:, 1], after, encoder_outputs, mask)
    torch.testing.assert_close(fed[0][:, D:], after.attentional, rtol=0, atol=0)
    assert after.attentional.eq(0).any()


def test_impossible_dropout():
    with pytest.raises(ValueError, match="dropout"):
        AttentionalDecoder(LSTMDecoder(D + A, H), Bilinear(), E, A, dropout=1.0)


@pytest.mark.parametrize(("encoder_size", "output_size"), [(0, 3), (3, 0)])
def test_sizes_must_be_positive(encoder_size, output_size):
    with pytest.raises(ValueError, match="_size must be at least 1, got 0"):
        AttentionalDecoder(LSTMDecoder(6, 4), nn.Identity(), encoder_size, output_size)


@pytest.mark.parametrize("input_feeding", [True, False])
def test_a_target_without_steps_is_refused(input_feeding):
    decoder, embedded, state, encoder_outputs, mask = make(input_feeding)
    with pytest.raises(ValueError, match="num_steps must be at least 1, got 0"):
        decoder(embedded[:, :0], state, encoder_outputs, mask)
