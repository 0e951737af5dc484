"""Words get the vectors of their file, and others start as in AllenNLP."""

import gzip
import logging

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import Token
from allennlp.modules.token_embedders import Embedding, TokenEmbedder

from allennlp_sentmatch.modules.token_embedders import PretrainedEmbedding

SENTENCE = "the cat and the dog saw the zyzzyva"
VECTORS = {
    "the": [0.5, -1.0, 0.25],
    "cat": [1.0, 0.0, 2.0],
    "saw": [-0.5, 0.125, 0.0],
    "unseen": [3.0, 3.0, 3.0],
}


@pytest.fixture
def file(tmp_path) -> str:
    path = tmp_path / "vectors.txt.gz"
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in VECTORS.items()]
    path.write_bytes(gzip.compress("".join(lines).encode()))
    return str(path)


@pytest.fixture
def vocab() -> Vocabulary:
    tokens = [Token(word) for word in SENTENCE.split()]
    field = TextField(tokens, {"tokens": SingleIdTokenIndexer()})
    return Vocabulary.from_instances([Instance({"tokens": field})])


@pytest.mark.parametrize("has_file", [False, True])
def test_words_of_the_file_have_its_vectors_and_others_are_as_in_allennlp(file, vocab, has_file):
    """Without a file, it is the embedding of an archive."""
    file = file if has_file else None
    torch.manual_seed(1)
    embedding = PretrainedEmbedding(3, vocab, file)
    torch.manual_seed(1)
    reference = Embedding(3, pretrained_file=file, vocab=vocab)
    torch.testing.assert_close(embedding.weight, reference.weight)
    for word in ("the", "cat", "saw") if has_file else ():
        assert embedding.weight[vocab.get_token_index(word)].tolist() == VECTORS[word]


def test_words_that_are_not_in_the_file_may_start_from_zeros(file, vocab, caplog):
    with caplog.at_level(logging.INFO):
        embedding = PretrainedEmbedding(3, vocab, file, zero_missing=True)
    for word, index in vocab.get_token_to_index_vocabulary().items():
        assert embedding.weight[index].tolist() == VECTORS.get(word, [0.0, 0.0, 0.0])
    assert embedding.weight.requires_grad
    assert "the others have zeros" in caplog.text


def test_the_log_has_the_share_of_words_and_of_tokens(file, vocab, caplog):
    # 3 of 6 words and the 2 symbols for padding and unknown words; 5 of 8 tokens.
    with caplog.at_level(logging.INFO):
        PretrainedEmbedding(3, vocab, file)
        PretrainedEmbedding(3, Vocabulary(tokens_to_add={"tokens": ["the", "dog"]}), file)
    assert "has vectors of 3 of 8 words, which are 62.5% of the data's 8 tokens" in caplog.text
    assert "has vectors of 1 of 4 words; the others" in caplog.text  # these were not counted


def test_other_settings(file, vocab):
    settings = {
        "pretrained_file": file,
        "trainable": False,
        "projection_dim": 2,
    }
    params = {
        "type": "pretrained_embedding",
        "embedding_dim": 3,
        "padding_index": 0,
        **settings,
    }
    embedding = TokenEmbedder.from_params(Params(params), vocab=vocab)
    assert isinstance(embedding, PretrainedEmbedding)
    assert not embedding.weight.requires_grad
    assert embedding.weight[0].tolist() == [0.0, 0.0, 0.0]
    assert embedding(torch.tensor([[2, 3, 0]])).shape == (1, 3, 2)


def test_words_that_are_added_later_have_the_vectors_of_the_file(file, vocab):
    embedding = PretrainedEmbedding(3, vocab, file)
    before = embedding.weight.detach().clone()
    vocab.add_token_to_namespace("unseen")
    embedding.extend_vocab(vocab)
    torch.testing.assert_close(embedding.weight[:-1].detach(), before)
    assert embedding.weight[-1].tolist() == VECTORS["unseen"]


@pytest.mark.parametrize("line", ["the 1.0 2.0", "the 1.0 2.0 x", "the 1.0 2.0 nan"])
def test_a_damaged_line_is_named(tmp_path, vocab, line):
    path = tmp_path / "vectors.txt"
    path.write_text(f"3 3\ncat 1.0 2.0 3.0\n{line}\n")
    with pytest.raises(
        ConfigurationError, match=r"vectors.txt, line 3: expected a word and 3 .*the"
    ):
        PretrainedEmbedding(3, vocab, str(path))


@pytest.mark.parametrize(
    ("words", "size", "message"),
    [
        (["xyzzy"], 3, r"no vector for any of the 3 words .*'tokens'"),
        (["the"], 4, r"have 3 numbers, but embedding_dim is 4; set it"),
    ],
)
def test_a_file_of_other_words_or_sizes(file, words, size, message):
    with pytest.raises(ConfigurationError, match=message):
        PretrainedEmbedding(size, Vocabulary(tokens_to_add={"tokens": words}), file)
