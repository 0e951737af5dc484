"""Encoders that compute in 8 bits."""

import copy
import pickle

import numpy
import pytest

from allennlp_sentmatch.nn.ops.backends import COMPILED
from allennlp_sentmatch.nn.ops.common.int8_products import HAS_INT8
from allennlp_sentmatch.standalone import int8_network
from tests.standalone.test_encoder import SENTENCES, make, make_lstm

TEXTS = [*SENTENCES, "a a a dog dog", " ".join(["runs dog a"] * 30), *["dog runs"] * 9]

needs_int8 = pytest.mark.skipif(
    not (HAS_INT8 and COMPILED), reason="this torch has no products of 8 bits, or no steps"
)


@needs_int8
@pytest.mark.parametrize("projection_size", [None, 5])
def test_vectors_are_nearly_those_of_float32(projection_size):
    encoder = make_lstm(projection_size)
    expected = encoder.encode(TEXTS)
    found = encoder.int8().encode(TEXTS)
    numpy.testing.assert_allclose(found, expected, atol=0.02, rtol=0)
    assert not numpy.array_equal(found, expected)


@needs_int8
def test_a_text_has_the_same_vector_in_any_batch_to_the_bit():
    encoder = make_lstm().int8()
    together = encoder.encode(TEXTS)
    for batch_size in (1, 2, 5):
        assert numpy.array_equal(encoder.encode(TEXTS, batch_size=batch_size), together)
    for text, vector in zip(TEXTS, together):
        assert numpy.array_equal(encoder.encode([text])[0], vector)


@needs_int8
def test_copies_compute_the_same():
    """This works although packed weights can be neither copied nor pickled."""
    encoder = make_lstm().int8()
    expected = encoder.encode(TEXTS)
    for other in (copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
        assert other.dtype == "int8"
        assert numpy.array_equal(other.encode(TEXTS), expected)


@needs_int8
def test_another_network_is_refused_and_stays_as_it_is():
    encoder = make()
    with pytest.raises(ValueError, match="only the mean of the states of a one-layer LSTM"):
        encoder.int8()
    assert encoder.dtype == "float32"
    assert numpy.isfinite(encoder.encode(SENTENCES)).all()


def test_an_old_torch_is_named(monkeypatch):
    monkeypatch.setattr(int8_network, "HAS_INT8", False)
    with pytest.raises(ValueError, match="does not have oneDNN's products of 8 bits"):
        make_lstm().int8()
