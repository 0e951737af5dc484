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
    encoder = make(
        type=kind,
        hidden_size=4,
        num_layers=2,
        bidirectional=bidirectional,
    )
    assert num_layers_with_states(encoder) == 2
    outputs, last_output, states = encode_with_states(encoder, INPUTS, MASK)
    torch.testing.assert_close(outputs, encoder(INPUTS, MASK))
    assert states.hidden.shape == (3, 2, 8 if bidirectional else 4)
    assert states.cell.shape == (3, 2, 8 if bidirectional else 4)
    torch.testing.assert_close(states.hidden[:, 1], last_output)  # the top layer's
    for b, length in enumerate(MASK.sum(1).tolist()):
        alone = [x[b : b + 1, :length] for x in (INPUTS, MASK)]
        expected = encode_with_states(encoder, *alone)[2]
        for found, wanted in zip(states, expected):
            torch.testing.assert_close(found[b], wanted[0])


@pytest.mark.parametrize("kind", ["lstm", "stacked_rnn", "cas_lstm", "rcrn"])
def test_a_batch_without_tokens(kind):
    encoder = make(type=kind, hidden_size=4)
    width = encoder.get_output_dim()
    outputs, last_output, states = encode_with_states(encoder, INPUTS[:, :0], MASK[:, :0])
    assert outputs.shape == (3, 0, width)
    assert torch.equal(last_output, torch.zeros(3, width))
    if kind != "rcrn":
        zeros = torch.zeros(3, num_layers_with_states(encoder), width)
        assert all(torch.equal(state, zeros) for state in states)


def test_other_encoders_have_their_last_output_alone():
    assert num_layers_with_states(make(type="stacked_rnn", cell="gru", hidden_size=4)) == 0
    encoder = make(type="rcrn", hidden_size=4)
    assert num_layers_with_states(encoder) == 0
    outputs, last_output, states = encode_with_states(encoder, INPUTS[:2], MASK[:2])
    assert states is None
    forward, backward = outputs.chunk(2, -1)
    expected = torch.cat([forward[[0, 1], [4, 1]], backward[:, 0]], -1)
    torch.testing.assert_close(last_output, expected)


@pytest.mark.parametrize("kind", ["lstm", "stacked_rnn", "cas_lstm"])
def test_a_token_after_padding(kind):
    mask = MASK.clone()
    mask[2, 3] = True
    with pytest.raises(ValueError, match="right-padded, but token 3 of sentence 2 follows"):
        encode_with_states(make(type=kind, hidden_size=4), INPUTS, mask)
