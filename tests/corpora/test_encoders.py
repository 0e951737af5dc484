"""Anything with a method `encode` works, and a fingerprint identifies a model and its settings."""

import numpy
import pytest

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.corpora import SentenceIndex, SentenceSearch, encode_corpus
from allennlp_sentmatch.corpora.encoders import CorpusEncoder, fingerprint_of, load_encoder
from tests.estimators.tiny_encoder import SENTENCES, tiny_encoder

LETTERS = "abcdefghijklmnopqrstuvwxyz "


class Counts:
    """Somebody's encoder: how often a text has each letter."""

    def encode(self, sentences):
        return numpy.array([self.counts(text.lower()) for text in sentences], float)

    def counts(self, text):
        return [text.count(letter) for letter in LETTERS]


class Prompted(Counts):
    """An encoder that encodes queries and documents differently."""

    def encode_query(self, sentences):
        return self.encode([f"query {text}" for text in sentences])

    def encode_document(self, sentences):
        return self.encode([f"title {text}" for text in sentences])


@pytest.mark.parametrize("make_encoder", [Counts, Prompted, tiny_encoder])
def test_a_corpus_is_encoded_with_anything_that_has_encode(tmp_path, make_encoder):
    encoder = make_encoder()
    corpus = [f"sentence {i % 9} of {i % 7}" for i in range(50)]
    file = tmp_path / "vectors.npy"
    encode_corpus(
        encoder,
        lambda: iter(corpus),
        file,
        block_size=16,
        show_progress_bar=False,
    )
    expected = SentenceEncoder(encoder).encode_document(corpus)
    numpy.testing.assert_allclose(numpy.load(file), expected, atol=1e-6)


def test_a_search_reads_queries_as_queries():
    pytest.importorskip("faiss")
    corpus = ["boil the rice", "dogs run", "a query of a dog"]
    vectors = Prompted().encode_document(corpus).astype("float32")
    query = Prompted().encode_query(["dog"]).astype("float32")
    cosines, positions = SentenceIndex.build(vectors).search(query, k=3)
    (found,) = SentenceSearch(Prompted(), corpus, vectors).search(["dog"], k=3)
    assert [one.position for one in found] == positions[0].tolist()
    numpy.testing.assert_allclose([one.cosine for one in found], cosines[0], atol=1e-6)


def test_an_encoder_does_not_rescore():
    pytest.importorskip("faiss")
    vectors = Prompted().encode_document(["dogs run"])
    search = SentenceSearch(Prompted(), ["dogs run"], vectors)
    with pytest.raises(ValueError, match="predicts nothing for pairs"):
        search.search(["dog"], rescore=True)


def test_words_that_the_encoder_does_not_know():
    encoder = CorpusEncoder(tiny_encoder())
    assert encoder.unknown_words(SENTENCES[0]) == []
    assert not encoder.knows_no_word(SENTENCES[0])
    assert encoder.unknown_words("xyzzy xyzzy qwop") == ["xyzzy", "qwop"]
    assert encoder.knows_no_word("xyzzy")
    assert CorpusEncoder(Counts()).unknown_words("xyzzy") == []


@pytest.fixture
def tiny_folder(tmp_path):
    tiny_encoder().save(tmp_path / "tiny")
    return str(tmp_path / "tiny")


def test_a_folder_is_loaded(tiny_folder):
    assert load_encoder(tiny_folder).vector_size == tiny_encoder().vector_size


@pytest.mark.parametrize(
    "setting",
    [
        {"cuda_device": 0},
        {"overrides": "{}"},
        {"trust": True},
    ],
)
def test_settings_of_archives_are_refused(tiny_folder, setting):
    with pytest.raises(ValueError, match=r"tiny is not an archive .*, which only an archive takes"):
        load_encoder(tiny_folder, **setting)


def test_a_path_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        load_encoder(str(tmp_path / "none"))


def test_a_fingerprint_is_of_one_model_with_one_setting(tmp_path):
    a = tmp_path / "a"
    b = tmp_path / "b"
    tiny_encoder().save(a)
    tiny_encoder().save(b)
    (b / "vocabulary.json").write_text("{}")
    fingerprints = {
        fingerprint_of(str(a)),
        fingerprint_of(str(a), dtype="bfloat16"),
        fingerprint_of(str(b)),
        fingerprint_of("package"),
    }
    assert len(fingerprints) == 4


@pytest.mark.parametrize(
    ("dtype", "is_rounded"),
    [
        ("float32", False),
        ("bfloat16", True),
    ],
)
def test_a_model_computes_in_the_format_that_is_asked_for(tiny_folder, dtype, is_rounded):
    vectors = load_encoder(tiny_folder, dtype=dtype).encode(SENTENCES)
    expected = SentenceEncoder(tiny_folder, dtype=dtype).encode(SENTENCES)
    numpy.testing.assert_array_equal(vectors, expected)
    unrounded = tiny_encoder().encode(SENTENCES)
    assert numpy.array_equal(vectors, unrounded) != is_rounded


def test_other_formats_are_refused(tiny_folder):
    with pytest.raises(ValueError, match=r"dtype must be .* got 'float16'"):
        load_encoder(tiny_folder, dtype="float16")
