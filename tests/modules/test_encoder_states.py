import pytest
import torch
from allennlp.common import Params
from allennlp.modules import Seq2SeqEncoder

from allennlp_sentmatch.modules.encoder_states import encode_with_states, state_sizes


def make(**settings):
    torch.manual_seed(0)
    return Seq2SeqEncoder.from_params(Params({"input_size": 3, **settings})).eval()


INPUTS = torch.randn(3, 5, 3, generator=torch.Generator().manual_seed(1))
MASK = torch.arange(5) < torch.tensor([[5], [2], [0]])


@pytest.mark.parametrize("kind", ["lstm", "cas_lstm"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_last_states_are_those_of_each_sentence_alone(kind, bidirectional):
    encoder = make(type=kind, hidden_size=4, num_layers=2, bidirectional=bidirectional)
    assert state_sizes(encoder) == (2, 8 if bidirectional else 4)
    outputs, last_output, states = encode_with_states(encoder, INPUTS, MASK)
    torch.testing.assert_close(outputs, encoder(INPUTS, MASK))
    assert states.hidden.shape == states.cell.shape == (3, 2, 8 if bidirectional else 4)
    torch.testing.assert_close(states.hidden[:, 1], last_output)  # the top layer's
    for b, length in enumerate(MASK.sum(1).tolist()):
        if length:
            alone = encode_with_states(
                encoder, INPUTS[b : b + 1, :length], MASK[b : b + 1, :length]
            )[2]
            torch.testing.assert_close(states.hidden[b], alone.hidden[0])
            torch.testing.assert_close(states.cell[b], alone.cell[0])
        else:
            assert states.hidden[b].eq(0).all()
            assert states.cell[b].eq(0).all()


def test_lstm_states_are_those_that_torch_returns():
    encoder = make(type="lstm", hidden_size=4, num_layers=2, bidirectional=True)
    _, _, states = encode_with_states(encoder, INPUTS[:1], MASK[:1])
    _, (hidden, cell) = encoder._module(INPUTS[:1])  # (layers * directions, 1, H)
    for layer in range(2):
        for mine, expected in ((states.hidden, hidden), (states.cell, cell)):
            both = torch.cat([expected[2 * layer, 0], expected[2 * layer + 1, 0]])
            torch.testing.assert_close(mine[0, layer], both)


def test_other_encoders_have_their_last_output_alone():
    encoder = make(type="rcrn", hidden_size=4)
    assert state_sizes(encoder) is None
    outputs, last_output, states = encode_with_states(encoder, INPUTS[:2], MASK[:2])
    assert states is None
    forward, backward = outputs.chunk(2, -1)
    expected = torch.cat([forward[[0, 1], [4, 1]], backward[:, 0]], -1)
    torch.testing.assert_close(last_output, expected)
