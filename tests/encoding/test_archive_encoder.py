"""The encoder of an archive gives the vectors of its model, and names unknown words."""

import sys

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Vocabulary

from allennlp_sentmatch.data.dataset_readers import AnswerSelectionReader
from allennlp_sentmatch.data.token_indexers import ExportedEncoderIndexer
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.models.archival import load_archive
from tests.models.samples import sample

SENTENCES = [
    "A small kitten is carrying a red rose in the garden.",
    "A cat.",
    "A hungry waiter is breaking a violin.",
    "",
    "A cat.",
    "Xyzzy plugh!",
]


@pytest.fixture(scope="module")
def encoder(small_archive):
    return ArchiveEncoder.from_archive(small_archive)


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_vectors_are_those_of_the_model_in_the_order_given(encoder, small_archive, batch_size):
    archive = load_archive(small_archive)
    vectors = encoder.encode(SENTENCES, batch_size=batch_size)
    assert vectors.shape == (6, 6)
    assert vectors.dtype == numpy.float32
    assert encoder.is_classifier is True
    for sentence, vector in zip(SENTENCES, vectors):
        instance = archive.dataset_reader.text_to_instance("ignored", sentence)
        archive.dataset_reader.apply_token_indexers(instance)
        batch = Batch([instance])
        batch.index_instances(archive.model.vocab)
        with torch.no_grad():
            expected = archive.model.eval().encode(batch.as_tensor_dict()["hypothesis"])
        numpy.testing.assert_allclose(vector, expected[0].numpy(), atol=1e-6)


def test_a_model_in_training_is_evaluated(small_archive):
    """A callback of the trainer may encode; the training then goes on with dropout."""
    encoder = ArchiveEncoder.from_archive(small_archive)
    model = encoder._model
    for module in model.modules():
        module.p = 0.5  # the dropout layer
    expected = encoder.encode(SENTENCES)
    (prediction,) = encoder.match(expected[:1], expected[1:2])
    model.train()
    model._encoder.eval()
    numpy.testing.assert_array_equal(encoder.encode(SENTENCES), expected)
    assert encoder.match(expected[:1], expected[1:2]) == [prediction]
    assert model.training
    assert not model._encoder.training


def test_a_ranker_encodes_with_the_reader_of_questions_and_answers():
    class Ranker(torch.nn.Linear):
        vocab = Vocabulary(tokens_to_add={"tokens": ["who", "sings", "?"]})

        def encode(self, tokens):
            return tokens["tokens"]["tokens"].float()

    ranker = ArchiveEncoder(Ranker(1, 1), AnswerSelectionReader("wikiqa"))
    assert ranker.encode(["who sings ?"]).tolist() == [[2, 3, 4]]
    assert ranker.is_classifier is False


def test_products_in_bfloat16(small_archive, encoder, monkeypatch):
    reduced = ArchiveEncoder.from_archive(small_archive, dtype="bfloat16")
    encode = reduced._model.encode
    precisions = []

    def recorded(tokens):
        precisions.append(torch.get_float32_matmul_precision())
        return encode(tokens)

    monkeypatch.setattr(reduced._model, "encode", recorded)
    vectors = reduced.encode(SENTENCES, batch_size=3)
    assert precisions == ["medium"] * 2
    assert torch.get_float32_matmul_precision() == "highest"
    numpy.testing.assert_allclose(vectors, encoder.encode(SENTENCES), atol=0.02)
    with pytest.raises(ConfigurationError, match="must be float32 or bfloat16; got 'int8'"):
        ArchiveEncoder.from_archive(small_archive, dtype="int8")


def test_instances_give_the_same_vectors(encoder, small_archive, monkeypatch):
    """Instances are made for tokenizers and indexers without a shortcut."""
    slow = ArchiveEncoder.from_archive(small_archive)
    monkeypatch.setitem(slow.__dict__, "indexer", None)
    made = []
    instance = slow._instance
    monkeypatch.setattr(slow, "_instance", lambda text: made.append(text) or instance(text))
    vectors = slow.encode(SENTENCES, batch_size=4)
    assert sorted(made) == sorted(SENTENCES)
    numpy.testing.assert_allclose(vectors, encoder.encode(SENTENCES, batch_size=4), atol=1e-6)


@pytest.mark.parametrize("name", ["similarity_regressor", "attentive_ranker"])
def test_no_features_of_words_are_made_for_single_sentences(name, monkeypatch):
    """They would take longer than a small encoder; the reader still makes them for a pair."""
    one = sample(name)
    monkeypatch.setattr(one.reader, "_has_word_features", True)  # other tests share the reader
    settings = {"pooling": "max"} if name == "attentive_ranker" else {}
    encoder = ArchiveEncoder(one.model(**settings), one.reader)
    monkeypatch.setitem(encoder.__dict__, "indexer", None)
    module = sys.modules[type(one.reader).__module__]
    made = []
    compare = module.compared_words
    monkeypatch.setattr(module, "compared_words", lambda *pair: made.append(1) or compare(*pair))
    encoder.encode(["A cat.", "A dog."])
    assert not made
    candidates = ["A dog."] if name == "attentive_ranker" else "A dog."
    assert "word_features" in one.reader.text_to_instance("A cat.", candidates).fields
    assert made


@pytest.mark.parametrize("is_fast", [True, False])
def test_one_warning_names_the_sentences_of_unknown_words(small_archive, monkeypatch, is_fast):
    encoder = ArchiveEncoder.from_archive(small_archive)
    if not is_fast:
        monkeypatch.setitem(encoder.__dict__, "indexer", None)
    with pytest.warns(UserWarning, match=r"of 2 texts \(sentence 1, sentence 3\)") as all:
        encoder.encode(["A cat.", "Xyzzy plugh!", "A xyzzy.", "Zzz"], batch_size=2)
    assert len(all) == 1


def test_the_unknown_words_of_an_exported_encoder():
    class FirstIndex(torch.nn.Linear):
        vocab = Vocabulary()

        def encode(self, tokens):
            return tokens["tokens"]["token_ids"][:, :1].float()

    reader = AnswerSelectionReader("wikiqa", token_indexers={"tokens": ExportedEncoderIndexer()})
    encoder = ArchiveEncoder(FirstIndex(1, 1), reader)
    with pytest.warns(UserWarning, match=r"of 2 texts \(sentence 1, sentence 3\)") as all:
        encoder.encode(["A cat.", "🙂 🙂 !", "A 🙂 .", "🙂"], batch_size=2)
    assert len(all) == 1
    assert encoder.unknown_words("A 🙂 cat 🙂 .") == ["🙂"]
    assert encoder.knows_no_word("🙂 !")
    assert not encoder.knows_no_word("A 🙂 .")


def test_bad_input(encoder):
    assert encoder.encode([]).shape == (0, 6)
    with pytest.raises(ConfigurationError, match="sentence 1 must be a string, not NoneType"):
        encoder.encode(["a", None])
    with pytest.raises(ConfigurationError, match="sentences must be a list or another iterable"):
        encoder.encode("one string")
    for batch_size in (0, -1, 2.0, "2", None):
        with pytest.raises(ConfigurationError, match=f"batch_size must be .*; got {batch_size!r}"):
            encoder.encode(["a"], batch_size=batch_size)


def test_numpy_s_strings_and_integers(encoder):
    sentences = [*SENTENCES[:4], SENTENCES[5]]
    numpy.testing.assert_array_equal(
        encoder.encode(numpy.array(sentences), batch_size=numpy.int64(2)),
        encoder.encode(sentences, batch_size=2),
    )


def test_progress_is_shown_on_request_only(small_archive, capsys):
    encoder = ArchiveEncoder.from_archive(small_archive)
    capsys.readouterr()
    encoder.encode(["A dog."])
    assert capsys.readouterr() == ("", "")
    encoder.encode(["A dog."], show_progress_bar=True)
    assert "encoding" in capsys.readouterr().err


def test_matches_are_calibrated(small_archive):
    archive = load_archive(small_archive)
    encoder = ArchiveEncoder(archive.model, archive.validation_dataset_reader)
    vectors = encoder.encode(["A kitten is moving a rose."])
    (plain,) = encoder.match(vectors, vectors)
    archive.model.temperature.fill_(0.1)
    (scaled,) = encoder.match(vectors, vectors)
    powers = {name: p**10 for name, p in plain["probs_by_label"].items()}
    expected = {name: power / sum(powers.values()) for name, power in powers.items()}
    assert scaled["probs_by_label"] == pytest.approx(expected, rel=1e-3)
