"""The internals of encoders that can be inspected."""

import pytest
import torch

from allennlp_sentmatch.modules.interpretable_encoder import (
    InterpretableEncoder,
    encode_with_internals,
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
