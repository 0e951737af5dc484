"""The hook finds the word embeddings of each text, in its own thread."""

import threading

import pytest
import torch
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding, PassThroughTokenEmbedder

from allennlp_sentmatch.inspection.hooks import embedding_layer, replaced_embeddings


@pytest.fixture
def embedder():
    embedding = Embedding(
        embedding_dim=2, num_embeddings=2, weight=torch.tensor([[0.0, 0.0], [1.0, 2.0]])
    )
    return BasicTextFieldEmbedder({"tokens": embedding})


def text(*ids):
    return {"tokens": {"tokens": torch.tensor([ids])}}


def test_each_text_has_its_own_embeddings_whatever_the_order(embedder):
    first = text(1, 0)
    second = text(0, 1)
    other = text(1, 1)
    texts = {"first": first, "second": second}
    with replaced_embeddings(embedder, texts, lambda x: 3 * x) as embedded:
        assert embedder(second).tolist() == [[[0, 0], [3, 6]]]
        assert embedder(other).tolist() == [[[1, 2], [1, 2]]]
        assert embedder(first).tolist() == [[[3, 6], [0, 0]]]
    assert [x.tolist() for x in embedded["first"].originals] == [[[[1, 2], [0, 0]]]]
    assert [x.tolist() for x in embedded["second"].leaves] == [[[[0, 0], [3, 6]]]]
    assert all(leaf.is_leaf and leaf.requires_grad for leaf in embedded["first"].leaves)
    assert embedder(first).tolist() == [[[1, 2], [0, 0]]]


def test_another_thread_sees_the_embeddings_as_they_are(embedder):
    seen = []
    tokens = text(1)
    with replaced_embeddings(embedder, {"first": tokens}, lambda x: 3 * x) as embedded:
        thread = threading.Thread(target=lambda: seen.append(embedder(tokens).tolist()))
        thread.start()
        thread.join()
    assert seen == [[[[1, 2]]]]
    assert embedded["first"].leaves == []


def test_the_layer_is_the_embedding_if_it_is_the_only_one(embedder):
    assert embedding_layer(embedder) is embedder._token_embedders["tokens"]
    projected = Embedding(embedding_dim=2, num_embeddings=2, projection_dim=3)
    several = {"tokens": projected, "vectors": PassThroughTokenEmbedder(1)}
    for token_embedders in ({"tokens": projected}, several):
        other = BasicTextFieldEmbedder(token_embedders)
        assert embedding_layer(other) is other
