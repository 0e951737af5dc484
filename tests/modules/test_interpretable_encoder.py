"""The internals of encoders that can be inspected."""

import pytest
import torch

from allennlp_sentmatch.modules.interpretable_encoder import (
    InterpretableEncoder,
    encode_with_internals,
    trim_attention,
)
from allennlp_sentmatch.modules.seq2seq_encoders import LstmnEncoder, RcrnEncoder
from allennlp_sentmatch.modules.seq2vec_encoders import GumbelTreeLstmEncoder, PooledEncoder

INPUTS = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
MASK = torch.tensor([[True, True, True], [True, True, False]])


@pytest.mark.parametrize(
    "encoder",
    [
        GumbelTreeLstmEncoder(4, 3),
        LstmnEncoder(4, 3),
        LstmnEncoder(4, 3, bidirectional=True),
        RcrnEncoder(4, 3),
        PooledEncoder(LstmnEncoder(4, 3), ["attention", "last"]),
        PooledEncoder(RcrnEncoder(4, 3), "attention"),
        PooledEncoder(RcrnEncoder(4, 3), "max"),
    ],
    ids=lambda encoder: type(encoder).__name__,
)
def test_internals_come_with_the_same_outputs(encoder):
    encoder.eval()
    outputs, internals = encode_with_internals(encoder, INPUTS, MASK)
    torch.testing.assert_close(outputs, encoder(INPUTS, MASK))
    names = encoder.internal_names if isinstance(encoder, InterpretableEncoder) else ()
    assert tuple(internals) == names
    assert all(len(tensor) == 2 for tensor in internals.values())


def test_pooled_shows_what_its_encoder_shows_and_its_own():
    encoder = PooledEncoder(LstmnEncoder(4, 3, bidirectional=True), ["max", "attention"])
    assert encoder.internal_names == (
        "self_attention",
        "self_attention_reverse",
        "pooling_attention",
    )
    _, internals = encode_with_internals(encoder, INPUTS, MASK)
    described = encoder.describe({name: t[1] for name, t in internals.items()}, ["a", "b"])
    assert described["self_attention"] == [[0, 0], [1, 0]]
    assert described["self_attention_reverse"] == [[0, 1], [0, 0]]
    assert sum(described["pooling_attention"]) == pytest.approx(1)
    assert len(described["pooling_attention"]) == 2


def test_attention_is_trimmed_and_a_gigantic_one_left_out():
    weights = torch.arange(12.0).view(3, 4)
    assert trim_attention(weights, 2, 3) == [[0, 1, 2], [4, 5, 6]]
    assert trim_attention(weights[1], 2) == [4, 5]
    assert trim_attention(torch.zeros(1001, 1000), 1001, 1000) == []
    assert len(trim_attention(torch.zeros(1001, 1000), 1000, 1000)) == 1000
