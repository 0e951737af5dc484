"""The last states of an encoder are those of each sentence by itself."""

import pytest
import torch
from allennlp.common import Params
from allennlp.modules import Seq2SeqEncoder

from allennlp_sentmatch.modules.encoder_states import encode_with_states, num_layers_with_states


def make(**settings):
    torch.manual_seed(0)
    return Seq2SeqEncoder.from_params(Params({"input_size": 3, **settings})).eval()


INPUTS = torch.randn(3, 5, 3, generator=torch.Generator().manual_seed(1))
MASK = torch.arange(5) < torch.tensor([[5], [2], [0]])


@pytest.mark.parametrize("kind", ["lstm", "stacked_rnn", "cas_lstm"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_last_states_are_those_of_each_sentence_alone(kind, bidirectional):
    encoder = make(type=kind, hidden_size=4, num_layers=2, bidirectional=bidirectional)
    width = 8 if bidirectional else 4
    assert num_layers_with_states(encoder) == 2
    outputs, last_output, states = encode_with_states(encoder, INPUTS, MASK)
    torch.testing.assert_close(outputs, encoder(INPUTS, MASK))
    assert states.hidden.shape == (3, 2, width)
    assert states.cell.shape == (3, 2, width)
    torch.testing.assert_close(states.hidden[:, 1], last_output)  # the top layer's
    for row, length in enumerate([5, 2, 0]):
        sentence = INPUTS[row : row + 1, :length]
        mask = MASK[row : row + 1, :length]
        _, _, expected = encode_with_states(encoder, sentence, mask)
        torch.testing.assert_close(states.hidden[row], expected.hidden[0])
        torch.testing.assert_close(states.cell[row], expected.cell[0])


@pytest.mark.parametrize("kind", ["lstm", "stacked_rnn", "cas_lstm", "rcrn"])
def test_a_batch_without_tokens(kind):
    encoder = make(type=kind, hidden_size=4)
    width = encoder.get_output_dim()
    outputs, last_output, states = encode_with_states(encoder, INPUTS[:, :0], MASK[:, :0])
    assert outputs.shape == (3, 0, width)
    assert torch.equal(last_output, torch.zeros(3, width))
    if kind != "rcrn":
        zeros = torch.zeros(3, num_layers_with_states(encoder), width)
        assert torch.equal(states.hidden, zeros)
        assert torch.equal(states.cell, zeros)


def test_a_gru_has_no_layers_with_states():
    assert num_layers_with_states(make(type="stacked_rnn", cell="gru", hidden_size=4)) == 0


def test_other_encoders_have_only_their_last_output():
    encoder = make(type="rcrn", hidden_size=4)
    assert num_layers_with_states(encoder) == 0
    outputs, last_output, states = encode_with_states(encoder, INPUTS[:2], MASK[:2])
    assert states is None
    forward, backward = outputs.chunk(2, -1)
    last_of_forward = forward[[0, 1], [4, 1]]
    expected = torch.cat([last_of_forward, backward[:, 0]], -1)
    torch.testing.assert_close(last_output, expected)


@pytest.mark.parametrize("kind", ["lstm", "stacked_rnn", "cas_lstm"])
def test_a_token_after_padding(kind):
    mask = MASK.clone()
    mask[2, 3] = True
    with pytest.raises(ValueError, match="right-padded, but token 3 of sentence 2 follows"):
        encode_with_states(make(type=kind, hidden_size=4), INPUTS, mask)
