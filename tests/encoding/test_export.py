"""An exported encoder gives the archive's vectors; what cannot be exported is refused."""

from copy import deepcopy

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules.seq2seq_encoders import PytorchSeq2SeqWrapper
from allennlp.modules.token_embedders import Embedding

from allennlp_sentmatch.data.dataset_readers import SentenceVectorsReader
from allennlp_sentmatch.encoding import ArchiveEncoder, export_encoder
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.text_indexer import TextIndexer, padded
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter
from tests.standalone.test_word_pieces import PIECES

SENTENCES = ["A cat isn't a dog :)", "Dogs run.", "", "a Dog", "Xyzzy -- plugh!?", "(a) dog:)"]
VOCAB = Vocabulary(tokens_to_add={"tokens": ["a", "cat", "is", "n't", "dog", ":)", "run", "A"]})

SEQUENCE_ENCODERS = [
    {"type": "cas_lstm", "hidden_size": 3, "num_layers": 3, "vertical_weight": "trainable"},
    {"type": "cas_lstm", "hidden_size": 3, "vertical_gate": "peephole", "bidirectional": True},
    {"type": "cas_lstm", "hidden_size": 3, "vertical_weight": None, "dropout": 0.2},
    {"type": "subilstm", "hidden_size": 3},
    {"type": "subilstm", "hidden_size": 3, "tied": False, "combination": "gate", "cell": "gru"},
    {"type": "subilstm", "hidden_size": 3, "combination": "concat", "max_context": 2},
    {"type": "rcrn", "hidden_size": 3, "cell": "gru", "output_gate": "identity"},
    {"type": "lstmn", "hidden_size": 3, "attention_size": 2, "bidirectional": True},
    {"type": "stacked_rnn", "hidden_size": 3, "num_layers": 2, "bidirectional": True},
    {"type": "stacked_rnn", "hidden_size": 3, "cell": "gru"},
    {"type": "lstm", "hidden_size": 3, "num_layers": 2, "bidirectional": True},
    {"type": "gru", "hidden_size": 3, "bias": False},
]
ENCODERS = [
    *(
        {
            "type": "pooled",
            "encoder": {"input_size": 4, **encoder},
            "pooling": ["last", "max", "mean", "min", "attention"],
        }
        for encoder in SEQUENCE_ENCODERS
    ),
    {"type": "pooled", "encoder": {"type": "pass_through", "input_dim": 4}, "pooling": "mean"},
    {"type": "boe", "embedding_dim": 4, "averaged": True},
    *(
        {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3, "leaf": leaf}
        for leaf in ("lstm", "bilstm", "affine")
    ),
]
WORDS = {"type": "embedding", "embedding_dim": 4}
HIGHWAY = {"type": "highway", "input_size": 4}


def make(encoder, words=WORDS, **settings):
    torch.manual_seed(0)
    embedder = {"text_field_embedder": {"token_embedders": {"tokens": words}}}
    params = {
        "type": "distilled_encoder",
        "encoder": encoder,
        **embedder,
        **settings,
    }
    # A copy, since AllenNLP consumes its input.
    model = Model.from_params(Params(deepcopy(params)), vocab=VOCAB)
    with torch.no_grad():  # larger parameters make differences visible
        for parameter in model.parameters():
            parameter.mul_(3.0)
    return model.eval()


def check(model, reader, folder):
    expected = ArchiveEncoder(model, reader).encode(SENTENCES)
    exported = export_encoder(model, reader, folder)
    loaded = StandaloneEncoder.load(folder)
    for encoder in (exported, loaded):
        indices = padded(encoder.indexer.rows(SENTENCES))  # `encode` refuses blank sentences
        vectors = encoder(indices).detach().numpy()
        numpy.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert loaded.vector_size == expected.shape[1]


@pytest.mark.parametrize("encoder", ENCODERS, ids=str)
def test_every_encoder_that_can_be_exported(tmp_path, encoder):
    check(make(encoder), SentenceVectorsReader(), tmp_path / "exported")


@pytest.mark.parametrize("encoder", ["stacked_rnn", "lstm"])
def test_a_network_of_another_class_is_refused(tmp_path, encoder):
    """It may compute something else than the class from which it inherits."""

    class Other(torch.nn.LSTM):
        pass

    settings = {"type": encoder, "input_size": 4, "hidden_size": 3}
    model = make({"type": "pooled", "encoder": settings})
    encoder = model._encoder.encoder
    other = Other(4, 3, batch_first=True)
    if isinstance(encoder, PytorchSeq2SeqWrapper):
        encoder._module = other
    else:
        encoder.module.network = other
    with pytest.raises(ConfigurationError, match=r"must be cas_lstm, .* or pass_through"):
        export_encoder(model, SentenceVectorsReader(), tmp_path / "exported")


@pytest.mark.parametrize("cut", [False, True])
def test_the_projection(tmp_path, cut):
    model = make(ENCODERS[0], projection_size=5, cut_projection=cut)
    check(model, SentenceVectorsReader(), tmp_path / "exported")
    assert StandaloneEncoder.load(tmp_path / "exported").vector_size == (15 if cut else 5)


@pytest.mark.parametrize(
    "settings",
    [
        {"tokenizer": "whitespace"},
        {"tokenizer": "letters_digits", "max_length": 2},
        {"tokenizer": {"type": "spacy_blank", "language": "de"}},
        {"token_indexers": {"tokens": {"type": "single_id", "lowercase_tokens": True}}},
    ],
    ids=str,
)
def test_readers(tmp_path, settings):
    reader = SentenceVectorsReader.from_params(Params(settings))
    check(make(ENCODERS[0]), reader, tmp_path / "exported")


def test_another_model(tmp_path, untrained_predictor):
    predictor = untrained_predictor("sentence_classifier")
    check(predictor._model, predictor._dataset_reader, tmp_path / "exported")


def word_piece_encoder(folder):
    """Save a small encoder of word pieces. Return the settings of an embedder of its vectors."""
    torch.manual_seed(0)
    known = {piece: index for index, piece in enumerate(PIECES)}
    indexer = TextIndexer(
        WordPieceSplitter(PIECES),
        known,
        unknown=1,
        empty=1,
        max_length=4,
    )
    network = {"type": "pooled", "encoder": {"type": "pass_through", "input_size": 4}}
    StandaloneEncoder(indexer, PIECES, 4, {**network, "pooling": "mean"}).save(folder)
    return {
        "type": "exported_encoder",
        "folder": str(folder),
        "trainable": True,
    }


def sentence_classifier(words):
    encoder = {
        "type": "bag_of_embeddings",
        "embedding_dim": 4,
        "averaged": True,
    }
    embedder = {"token_embedders": {"tokens": words}}
    params = {
        "type": "sentence_classifier",
        "text_field_embedder": embedder,
        "encoder": encoder,
        "classifier": {"hidden_size": 2},
    }
    vocab = Vocabulary(tokens_to_add={"labels": ["yes", "no"]})
    return Model.from_params(Params(params), vocab=vocab).eval()


def reader_of_pieces(folder, **settings):
    indexer = {"type": "exported_encoder", "folder": str(folder)}
    params = {
        "tokenizer": "whitespace",
        "token_indexers": {"tokens": indexer},
        **settings,
    }
    return SentenceVectorsReader.from_params(Params(params))


def test_an_encoder_that_was_trained_further(tmp_path):
    words = word_piece_encoder(tmp_path / "before")
    model = sentence_classifier({**words, "whole_sentence": True})
    with torch.no_grad():  # the training
        for parameter in model.parameters():
            parameter.add_(torch.rand_like(parameter))
    reader = reader_of_pieces(tmp_path / "before")
    texts = ["Unaffable dogs, xyzzy!", "dogs", "don't x-x dogs dogs dogs"]
    expected = ArchiveEncoder(model, reader).encode(texts)
    export_encoder(model, reader, tmp_path / "after")
    vectors = StandaloneEncoder.load(tmp_path / "after").encode(texts)
    numpy.testing.assert_allclose(vectors, expected, atol=1e-6)
    before = StandaloneEncoder.load(tmp_path / "before").encode(texts)
    assert abs(vectors - before).max() > 0.1


@pytest.mark.parametrize(
    ("whole_sentence", "settings", "message"),
    [
        (False, {}, "vectors of sentences: whole_sentence"),
        (True, {"tokenizer": "spacy_blank"}, "the tokenizer 'whitespace'"),
        (True, {"max_length": 2}, "without max_length"),
    ],
)
def test_other_uses_of_an_encoder_are_not_exported(tmp_path, whole_sentence, settings, message):
    words = word_piece_encoder(tmp_path / "before")
    model = sentence_classifier({**words, "whole_sentence": whole_sentence})
    reader = reader_of_pieces(tmp_path / "before", **settings)
    with pytest.raises(ConfigurationError, match=f"cannot be exported: .*{message}"):
        export_encoder(model, reader, tmp_path / "after")
    assert not (tmp_path / "after").exists()


def test_weights_that_are_not_finite_are_not_exported(tmp_path):
    model = make(ENCODERS[0])
    next(model._encoder.parameters()).data[0] = torch.nan
    with pytest.raises(ConfigurationError, match=r"cannot be exported: .encoder.* not finite"):
        export_encoder(model, SentenceVectorsReader(), tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


@pytest.mark.parametrize(
    ("encoder", "words", "message"),
    [
        ({"type": "pooled", "encoder": HIGHWAY}, WORDS, "pooled encoder is a HighwayEncoder"),
        ({"type": "boe", "embedding_dim": 4}, WORDS, "or an averaging .* BagOfEmbeddings"),
        (ENCODERS[0], {**WORDS, "projection_dim": 4}, "its embedding has a projection_dim"),
        (ENCODERS[0], {"type": "pass_through", "hidden_dim": 4}, "not by PassThroughTokenEmb"),
    ],
)
def test_what_cannot_be_exported(tmp_path, encoder, words, message):
    with pytest.raises(ConfigurationError, match=f"this encoder cannot be exported: .*{message}"):
        export_encoder(make(encoder, words), SentenceVectorsReader(), tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


def test_embeddings_with_a_forward_of_their_own_are_not_exported(tmp_path):
    class Scaled(Embedding):
        def forward(self, tokens):
            return 2 * super().forward(tokens)

    model = make(ENCODERS[0])
    model._text_field_embedder.token_embedder_tokens.__class__ = Scaled
    with pytest.raises(ConfigurationError, match="not by Scaled"):
        export_encoder(model, SentenceVectorsReader(), tmp_path / "exported")


def test_a_model_without_a_sentence_encoder(tmp_path, untrained_predictor):
    predictor = untrained_predictor("esim")
    with pytest.raises(ConfigurationError, match="can be exported, not a ESIM"):
        export_encoder(predictor._model, predictor._dataset_reader, tmp_path / "exported")
