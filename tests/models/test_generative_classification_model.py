import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.modules import TextFieldEmbedder

from allennlp_sentmatch.models.generative_classification_model import word_embedding


@pytest.fixture
def vocabulary():
    vocab = Vocabulary()
    vocab.add_tokens_to_namespace(["man", "sleeps"], "tokens")
    return vocab


def embedder(vocab, **token_embedders):
    return TextFieldEmbedder.from_params(Params({"token_embedders": token_embedders}), vocab=vocab)


def test_word_embedding(vocabulary):
    text_field_embedder = embedder(vocabulary, words={"type": "embedding", "embedding_dim": 3})
    embedding = word_embedding(text_field_embedder)
    assert embedding is text_field_embedder.token_embedder_words
    assert embedding.weight.shape == (4, 3)


def test_what_cannot_be_an_output_matrix(vocabulary):
    plain = {"type": "embedding", "embedding_dim": 3}
    for token_embedders in (
        {"tokens": {**plain}, "others": {**plain}},
        {"tokens": {**plain, "projection_dim": 2}},
        {"tokens": {"type": "pass_through", "hidden_dim": 3}},
    ):
        with pytest.raises(ConfigurationError, match="single token embedder of type 'embedding'"):
            word_embedding(embedder(vocabulary, **token_embedders))
