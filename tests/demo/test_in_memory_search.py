"""Search in memory."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.demo import InMemorySearch, InputError
from allennlp_sentmatch.predictors import SentenceEncoder

SENTENCES = ["A cat is moving a flower.", "A dog is moving a rose.", "Nobody is asleep.", "A cat."]


def test_the_nearest_sentences_by_cosine(pair_model, small_archive):
    query = "A dog is moving a flower."
    encoder = SentenceEncoder.from_archive(small_archive)
    (vector,) = encoder.encode([query], show_progress=False)
    expected = {
        sentence: vector @ other / numpy.linalg.norm(vector) / numpy.linalg.norm(other)
        for sentence, other in zip(SENTENCES, encoder.encode(SENTENCES, show_progress=False))
    }
    found = InMemorySearch(pair_model, SENTENCES).nearest(query, count=3)
    assert [sentence for sentence, _ in found] == sorted(expected, key=expected.get)[:0:-1]
    assert dict(found) == pytest.approx({s: expected[s] for s, _ in found}, abs=1e-5)


def test_a_sentence_is_nearest_to_itself(pair_model):
    found = InMemorySearch(pair_model, SENTENCES).nearest(SENTENCES[1])
    assert len(found) == len(SENTENCES)
    assert found[0] == (SENTENCES[1], pytest.approx(1, abs=1e-5))


def test_an_empty_query_is_refused(pair_model):
    with pytest.raises(InputError, match="Please write a sentence"):
        InMemorySearch(pair_model, SENTENCES).nearest(" ")


def test_a_model_without_an_encoder_is_refused(untrained):
    with pytest.raises(ConfigurationError, match="holds no sentence encoder"):
        InMemorySearch(untrained("esim"), SENTENCES)
    with pytest.raises(ConfigurationError, match="attentive pooling"):
        InMemorySearch(untrained("attentive_ranker"), SENTENCES)
