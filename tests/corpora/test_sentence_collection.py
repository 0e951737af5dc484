"""A collection finds what a search finds, in little memory."""

import tracemalloc

import numpy
import pytest

from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from tests.estimators.tiny_encoder import SENTENCES, tiny_encoder


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder(tiny_encoder())


def test_a_collection_finds_what_search_finds(encoder):
    for vectors in (None, encoder.encode(SENTENCES)):
        collection = encoder.collection(iter(SENTENCES), vectors)
        assert len(collection) == len(SENTENCES)
        for query in ("a cat sees", "a man"):
            found = collection.search(query, k=4)
            assert found == encoder.search(query, SENTENCES, k=4)
            assert [SENTENCES[one.position] for one in found] == [one.sentence for one in found]
    assert encoder.collection([]).search("a cat") == []


def test_equal_sentences_are_told_apart_by_their_positions(encoder):
    found = encoder.collection(["a dog", "a cat", "a dog", "a cat"]).search("a cat", k=3)
    assert [one.position for one in found] == [1, 3, 0]


def test_a_search_takes_little_memory(encoder, tmp_path):
    """Each call copied 200,000 vectors four times."""
    rows = numpy.resize(encoder.encode(SENTENCES), (20_000, 16))
    numpy.save(tmp_path / "vectors.npy", rows / numpy.linalg.norm(rows, axis=1, keepdims=True))
    vectors = numpy.load(tmp_path / "vectors.npy", mmap_mode="r")
    sentences = [SENTENCES[row % len(SENTENCES)] for row in range(len(rows))]
    texts = encoder.collection(sentences, vectors)._sentences
    tracemalloc.start()
    encoder.search("a cat runs", texts, k=3, vectors=vectors)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < vectors.nbytes * 1.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.collection(["a cat"]).search(" "), "the query is blank"),
        (
            lambda e: e.collection(["a cat"]).search("a", k=0),
            "k must be an integer of at least 1; got 0",
        ),
        (lambda e: e.collection("a cat"), "a single one goes into a list"),
        (lambda e: e.collection(["a cat"], numpy.zeros((2, 16))), r"of the 1 sentences, \(1, 16\)"),
    ],
)
def test_bad_arguments_are_refused(encoder, call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(encoder)
