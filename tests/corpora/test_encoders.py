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
        return numpy.array([[text.lower().count(c) for c in LETTERS] for text in sentences], float)


class Prompted(Counts):
    """An encoder that encodes queries and documents differently."""

    def encode_query(self, sentences):
        return self.encode([f"query {text}" for text in sentences])

    def encode_document(self, sentences):
        return self.encode([f"title {text}" for text in sentences])


def test_a_corpus_is_encoded_with_anything_that_has_encode(tmp_path):
    corpus = [f"sentence {i % 9} of {i % 7}" for i in range(50)]
    for number, encoder in enumerate((Counts(), Prompted(), tiny_encoder())):
        file = tmp_path / f"{number}.npy"
        encode_corpus(encoder, lambda: iter(corpus), file, block_size=16, show_progress_bar=False)
        expected = SentenceEncoder(encoder).encode_document(corpus)
        numpy.testing.assert_allclose(numpy.load(file), expected, atol=1e-6)


def test_a_search_reads_queries_as_queries(tmp_path):
    pytest.importorskip("faiss")
    corpus = ["boil the rice", "dogs run", "a query of a dog"]
    vectors = Prompted().encode_document(corpus).astype("float32")
    (found,) = SentenceSearch(Prompted(), corpus, vectors).search(["dog"], k=3)
    index = SentenceIndex.build(vectors)
    cosines, positions = index.search(Prompted().encode_query(["dog"]).astype("float32"), k=3)
    assert [one.position for one in found] == positions[0].tolist()
    numpy.testing.assert_allclose([one.cosine for one in found], cosines[0], atol=1e-6)
    with pytest.raises(ValueError, match="predicts nothing for pairs"):
        SentenceSearch(Prompted(), corpus, vectors).search(["dog"], rescore=True)


def test_words_that_the_encoder_does_not_know():
    encoder = CorpusEncoder(tiny_encoder())
    known = SENTENCES[0]
    assert (encoder.unknown_words(known), encoder.knows_no_word(known)) == ([], False)
    assert encoder.unknown_words("xyzzy xyzzy qwop") == ["xyzzy", "qwop"]
    assert encoder.knows_no_word("xyzzy")
    assert CorpusEncoder(Counts()).unknown_words("xyzzy") == []


def test_settings_of_archives_are_refused(tmp_path):
    tiny_encoder().save(tmp_path / "tiny")
    folder = str(tmp_path / "tiny")
    assert load_encoder(folder).vector_size == tiny_encoder().vector_size
    for settings in ({"cuda_device": 0}, {"overrides": "{}"}, {"trust": True}):
        with pytest.raises(ValueError, match=r"tiny is not an archive .* settings of archives"):
            load_encoder(folder, **settings)
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        load_encoder(str(tmp_path / "none"))


def test_a_fingerprint_is_of_one_model_with_one_setting(tmp_path):
    tiny_encoder().save(tmp_path / "a")
    tiny_encoder().save(tmp_path / "b")
    (tmp_path / "b" / "vocabulary.json").write_text("{}")
    a = str(tmp_path / "a")
    b = str(tmp_path / "b")
    found = {fingerprint_of(a), fingerprint_of(b), fingerprint_of("package")}
    assert len({*found, fingerprint_of(a, dtype="bfloat16")}) == 4


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_model_computes_in_the_format_that_is_asked_for(tmp_path, dtype):
    tiny_encoder().save(tmp_path / "tiny")
    vectors = load_encoder(str(tmp_path / "tiny"), dtype=dtype).encode(SENTENCES)
    encoder = SentenceEncoder(tmp_path / "tiny", dtype=dtype)
    numpy.testing.assert_array_equal(vectors, encoder.encode(SENTENCES))
    is_rounded = not numpy.array_equal(vectors, tiny_encoder().encode(SENTENCES))
    assert is_rounded == (dtype == "bfloat16")


def test_other_formats_are_refused(tmp_path):
    tiny_encoder().save(tmp_path / "tiny")
    with pytest.raises(ValueError, match=r"dtype must be .* got 'float16'"):
        load_encoder(str(tmp_path / "tiny"), dtype="float16")
