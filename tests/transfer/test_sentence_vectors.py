"""Sentences are encoded once, whatever asks for their vectors, and kept in files."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.transfer import SentenceVectors


@pytest.fixture
def encode():
    """An encoder that records what it encodes."""

    def encode(sentences):
        encode.calls.append(list(sentences))
        return numpy.array([[len(s), hash_of(s)] for s in sentences], "f4").reshape(-1, 2)

    encode.calls = []
    return encode


def hash_of(sentence):
    return sum(map(ord, sentence)) % 97


def expected(sentences):
    return [[len(sentence), hash_of(sentence)] for sentence in sentences]


def test_each_sentence_is_encoded_once(encode):
    vectors = SentenceVectors(encode)
    assert vectors.size is None
    vectors.add("one", ["a", "bb", "a"])
    vectors.add("two", ["bb", "ccc"])
    vectors.add("three", ["ccc", "a"])
    assert encode.calls == [["a", "bb"], ["ccc"]]
    assert vectors.size == 2
    wanted = ["ccc", "a", "bb", "a"]
    assert vectors.of(wanted).tolist() == expected(wanted)
    assert vectors.of(wanted).dtype == numpy.float32


def test_the_cache_saves_encoding(encode, tmp_path):
    for _ in range(2):
        vectors = SentenceVectors(encode, tmp_path / "cache", "encoder 1")
        vectors.add("one", ["a", "bb"])
        vectors.add("two", ["ccc", "bb", "dddd"])
        wanted = ["dddd", "bb", "a", "ccc"]
        assert vectors.of(wanted).tolist() == expected(wanted)
    assert encode.calls == [["a", "bb"], ["ccc", "dddd"]]
    # A later run may want only some of the data sets.
    vectors = SentenceVectors(encode, tmp_path / "cache", "encoder 1")
    vectors.add("two", ["ccc", "bb", "dddd"])
    assert vectors.of(["bb"]).tolist() == expected(["bb"])
    assert len(encode.calls) == 2
    names = sorted(path.name for path in (tmp_path / "cache").iterdir())
    assert [name.partition("-")[0] for name in names] == ["one", "two"]


def test_the_cache_of_another_encoder_or_of_other_sentences_is_not_read(encode, tmp_path):
    SentenceVectors(encode, tmp_path, "encoder 1").add("one", ["a", "bb"])
    SentenceVectors(encode, tmp_path, "encoder 2").add("one", ["a", "bb"])
    SentenceVectors(encode, tmp_path, "encoder 1").add("one", ["a", "b", "b"])
    assert encode.calls == [["a", "bb"], ["a", "bb"], ["a", "b"]]


def test_a_failed_encoding_leaves_nothing(tmp_path):
    def fail(sentences):
        raise RuntimeError("no")

    vectors = SentenceVectors(fail, tmp_path)
    with pytest.raises(RuntimeError):
        vectors.add("one", ["a"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["a flipped bit", "a shorter file"])
def test_a_damaged_file_is_written_again(encode, tmp_path, damage):
    SentenceVectors(encode, tmp_path).add("one", ["a"])
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    flipped = bytes([content[128] ^ 1])
    file.write_bytes(content[:-4] if "short" in damage else content[:128] + flipped + content[129:])
    vectors = SentenceVectors(encode, tmp_path)
    vectors.add("one", ["a"])
    assert vectors.of(["a"]).tolist() == expected(["a"])
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (numpy.zeros((1, 3), "f4"), r"shape \(2, E\), got \(1, 3\)"),
        (numpy.zeros(2, "f4"), r"shape \(2, E\), got \(2,\)"),
        (numpy.zeros((2, 3), int), "of int64"),
        (numpy.array([[1, 2], [numpy.nan, 1]], "f4"), "the vector of 'bb' has a component"),
        (numpy.array([[numpy.inf, 2], [1, 1]], "f4"), "the vector of 'a' has a component"),
    ],
)
def test_what_cannot_be_vectors_is_refused(array, message):
    with pytest.raises(ConfigurationError, match=message):
        SentenceVectors(lambda sentences: array).add("one", ["a", "bb"])


def test_all_vectors_have_the_same_width():
    vectors = SentenceVectors(lambda sentences: numpy.zeros((1, len(sentences[0])), "f4"))
    vectors.add("one", ["a"])
    with pytest.raises(ConfigurationError, match=r"shape \(1, 1\), got \(1, 2\)"):
        vectors.add("two", ["bb"])
