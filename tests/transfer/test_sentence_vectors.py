"""Sentences are encoded once, and the cache is only used for the same ones."""

import gzip

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.files.digests import ending, sentences_digest
from allennlp_sentmatch.transfer import SentenceVectors, StoredVectors, WordVectorAverage


class Encode:
    """Encodes sentences by their lengths and characters, and records what it encodes."""

    def __init__(self):
        self.calls = []

    def __call__(self, sentences):
        self.calls.append(list(sentences))
        return numpy.array(expected(sentences), "f4").reshape(-1, 2)


@pytest.fixture
def encode():
    return Encode()


def expected(sentences):
    return [[len(sentence), sum(map(ord, sentence)) % 97] for sentence in sentences]


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


def add_both(encode, folder):
    """Return vectors of two data sets, which a cache may have."""
    vectors = SentenceVectors(encode, folder, "encoder 1")
    vectors.add("one", ["a", "bb"])
    vectors.add("two", ["ccc", "bb", "dddd"])
    return vectors


def test_the_cache_saves_encoding(encode, tmp_path):
    wanted = ["dddd", "bb", "a", "ccc"]
    for _ in range(2):
        vectors = add_both(encode, tmp_path)
        assert vectors.of(wanted).tolist() == expected(wanted)
    assert encode.calls == [["a", "bb"], ["ccc", "dddd"]]
    names = sorted(path.name.partition("-")[0] for path in tmp_path.iterdir())
    assert names == ["one", "two"]


def test_a_later_run_may_use_only_some_of_the_data_sets(encode, tmp_path):
    add_both(encode, tmp_path)
    num_calls = len(encode.calls)
    vectors = SentenceVectors(encode, tmp_path, "encoder 1")
    vectors.add("two", ["ccc", "bb", "dddd"])
    assert vectors.of(["bb"]).tolist() == expected(["bb"])
    assert len(encode.calls) == num_calls


def test_the_cache_of_another_encoder_or_of_other_sentences_is_not_read(encode, tmp_path):
    for fingerprint, sentences in (("1", ["a", "bb"]), ("2", ["a", "bb"]), ("1", ["a", "b", "b"])):
        SentenceVectors(encode, tmp_path, fingerprint).add("one", sentences)
    assert encode.calls == [["a", "bb"], ["a", "bb"], ["a", "b"]]


def test_a_failed_encoding_leaves_nothing(tmp_path):
    def fail(sentences):
        raise RuntimeError("no")

    vectors = SentenceVectors(fail, tmp_path)
    with pytest.raises(RuntimeError):
        vectors.add("one", ["a"])
    assert list(tmp_path.iterdir()) == []


def flipped_bit(content):
    return content[:128] + bytes([content[128] ^ 1]) + content[129:]


def shortened(content):
    return content[:-4]


@pytest.mark.parametrize("damage", [flipped_bit, shortened])
def test_a_damaged_file_is_written_again(encode, tmp_path, damage):
    SentenceVectors(encode, tmp_path).add("one", ["a"])
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    file.write_bytes(damage(content))
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
    vectors = SentenceVectors(lambda sentences: array)
    with pytest.raises(ConfigurationError, match=message):
        vectors.add("one", ["a", "bb"])


def test_vectors_of_different_sizes_are_refused():
    vectors = SentenceVectors(lambda sentences: numpy.zeros((1, len(sentences[0])), "f4"))
    vectors.add("one", ["a"])
    with pytest.raises(ConfigurationError, match=r"shape \(1, 1\), got \(1, 2\)"):
        vectors.add("two", ["bb"])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "s.txt").write_text("A dog.\n\nTwo cats \n")
    numpy.save(tmp_path / "v.npy", numpy.arange(6, dtype="f4").reshape(3, 2))
    return tmp_path / "s.txt", tmp_path / "v.npy"


def test_sentences_are_looked_up(files):
    stored = StoredVectors.from_files(*files)
    assert stored.encode(["Two cats ", "A dog.", ""]).tolist() == [[4, 5], [0, 1], [2, 3]]
    with pytest.raises(ConfigurationError, match=r"1 of 2 sentences have no vector.*'Two cats'"):
        stored.encode(["A dog.", "Two cats"])


def test_equal_sentences_have_equal_vectors():
    sentences = ["A dog.", "A cat.", "A dog."]
    stored = StoredVectors(sentences, numpy.array([[1, 2], [3, 4], [1, 2.00001]], "f4"))
    assert stored.encode(["A dog."]).tolist() == [[1, 2]]
    message = r"rows 0 and 2 \(counted from 0\) have different vectors, but .* 'A dog\.'; write one"
    with pytest.raises(ConfigurationError, match=message):
        StoredVectors(sentences, numpy.array([[1, 2], [3, 4], [2, 1]], "f4"))


def test_vectors_of_other_sentences(files):
    sentences, vectors = files
    digest = sentences_digest(["A dog.", "", "Two cats "]).hexdigest()
    with open(vectors, "ab") as file:
        file.write(ending(digest))
    StoredVectors.from_files(sentences, vectors)
    sentences.write_text("A dog.\n\nTwo cats\n")
    with pytest.raises(ConfigurationError, match=r"v\.npy was made from other sentences"):
        StoredVectors.from_files(sentences, vectors)


def test_files_that_are_no_vectors_of_the_sentences(files):
    sentences, vectors = files
    numpy.save(vectors, numpy.zeros((2, 2), "f4"))
    with pytest.raises(ConfigurationError, match=r"3 sentences.*\(2, 2\)"):
        StoredVectors.from_files(sentences, vectors)
    vectors.write_text("0.1 0.2")
    with pytest.raises(ConfigurationError, match=r"v\.npy is not a whole NumPy file"):
        StoredVectors.from_files(sentences, vectors)


WORD_VECTORS = "the 1 0\nThe 0 1\ndog 3 -2.5\n. . 5 5\nthe 9 9\n"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("the dog", [2, -1.25]),
        ("The DOG barks", [1.5, -0.75]),
        ("nothing known", [0, 0]),
        ("", [0, 0]),
        ("dog dog the", [7 / 3, -5 / 3]),
    ],
)
def test_known_words_are_averaged(tmp_path, sentence, expected):
    """Other files of word vectors are in tests/data/test_word_vectors.py."""
    (tmp_path / "v.txt.gz").write_bytes(gzip.compress(WORD_VECTORS.encode()))
    average = WordVectorAverage.from_file(tmp_path / "v.txt.gz")
    (encoded,) = average.encode([sentence])
    assert encoded.dtype == numpy.float32
    numpy.testing.assert_allclose(encoded, expected, rtol=1e-6)


def test_a_file_without_word_vectors(tmp_path):
    (tmp_path / "empty.txt").write_text("2 3\n")
    with pytest.raises(ConfigurationError, match=r"empty\.txt has no word vectors"):
        WordVectorAverage.from_file(tmp_path / "empty.txt")
