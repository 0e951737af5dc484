import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.seq2seq_encoders import SequentialEncoder

MASK = torch.tensor([[True, True, True], [True, False, False]])
HIGHWAY = {"type": "highway", "input_size": 4}
RCRN = {"type": "rcrn", "input_size": 4, "hidden_size": 3}


def build(*encoders) -> Seq2SeqEncoder:
    torch.manual_seed(0)
    return Seq2SeqEncoder.from_params(
        Params({"type": "sequential", "encoders": [dict(encoder) for encoder in encoders]})
    )


def test_each_encoder_reads_the_outputs_of_the_one_before():
    encoder = build(HIGHWAY, RCRN).double()
    highway, rcrn = encoder.encoders
    inputs = torch.randn(2, 3, 4, dtype=torch.float64)
    expected = rcrn(highway(inputs, MASK), MASK)
    torch.testing.assert_close(encoder(inputs, MASK), expected)


def test_without_a_mask_nothing_is_padding():
    encoder = build(HIGHWAY, RCRN).double()
    inputs = torch.randn(2, 3, 4, dtype=torch.float64)
    everything = torch.ones(2, 3, dtype=torch.bool)
    torch.testing.assert_close(encoder(inputs), encoder(inputs, everything))


@pytest.mark.parametrize(
    ("encoders", "sizes", "bidirectional"),
    [
        ([HIGHWAY], (4, 4), False),
        ([HIGHWAY, RCRN], (4, 6), True),
        ([RCRN, {"type": "lstm", "input_size": 6, "hidden_size": 5}], (4, 5), False),
    ],
)
def test_sizes_and_direction_are_those_at_its_ends(encoders, sizes, bidirectional):
    encoder = build(*encoders)
    assert isinstance(encoder, SequentialEncoder)
    assert (encoder.get_input_dim(), encoder.get_output_dim()) == sizes
    assert encoder.is_bidirectional() is bidirectional


def test_encoders_of_other_sizes_are_an_error():
    with pytest.raises(ConfigurationError, match=r"output dim of encoder 0.*6.*4"):
        build(RCRN, HIGHWAY)


def test_no_encoders_are_an_error():
    with pytest.raises(ConfigurationError, match="encoders is empty; list at least one"):
        build()
