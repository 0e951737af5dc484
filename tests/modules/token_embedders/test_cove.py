"""CoVe against torch's own LSTM, on weights saved as the published ones are."""

import inspect
import pickle

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules.token_embedders import TokenEmbedder

import allennlp_sentmatch  # noqa: F401  (registers the embedder)

pytestmark = pytest.mark.skipif(
    "weights_only" not in inspect.signature(torch.load).parameters,
    reason="this torch cannot load tensors only",
)


EMBEDDING = {
    "type": "embedding",
    "embedding_dim": 300,
    "trainable": False,
}


@pytest.fixture
def vocab() -> Vocabulary:
    return Vocabulary(tokens_to_add={"tokens": ["a", "man", "sleeps"], "labels": ["yes", "no"]})


@pytest.fixture(scope="module")
def mt_lstm() -> torch.nn.LSTM:
    torch.manual_seed(0)
    return torch.nn.LSTM(
        300,
        300,
        num_layers=2,
        bidirectional=True,
        batch_first=True,
    )


@pytest.fixture(scope="module")
def weights(mt_lstm, tmp_path_factory):
    """A state of the LSTM, in the file format of torch's first versions."""
    path = tmp_path_factory.mktemp("cove") / "wmtlstm.pth"
    torch.save(mt_lstm.state_dict(), path, _use_new_zipfile_serialization=False)
    return path


def cove(vocab, **params) -> TokenEmbedder:
    params = {
        "type": "cove",
        "embedding": dict(EMBEDDING),
        **params,
    }
    return TokenEmbedder.from_params(Params(params), vocab=vocab)


def test_word_vectors_and_the_outputs_of_the_lstm(vocab, weights, mt_lstm):
    embedder = cove(vocab, pretrained_file=str(weights))
    tokens = torch.tensor([[2, 3, 4, 2], [4, 2, 0, 0], [3, 0, 0, 0]])
    vectors = embedder(tokens)
    assert vectors.shape == (3, 4, embedder.get_output_dim())
    assert embedder.get_output_dim() == 900
    for row, length in enumerate([4, 2, 1]):
        words = embedder.embedding.weight[tokens[row, :length]]
        expected, _ = mt_lstm(words[None])
        torch.testing.assert_close(vectors[row, :length, :300], words)
        torch.testing.assert_close(vectors[row, :length, 300:], expected[0])
        assert (vectors[row, length:, 300:] == 0).all()
    assert not any(parameter.requires_grad for parameter in embedder.parameters())


def test_beside_other_embedders_and_in_an_archive(vocab, weights, tmp_path):
    """A loaded archive has the weights, and no longer needs the file."""

    def params(file):
        embedders = {
            "tokens": {"type": "cove", "embedding": dict(EMBEDDING), "pretrained_file": file},
            "own": {"type": "embedding", "embedding_dim": 2},
        }
        settings = {
            "type": "sentence_classifier",
            "text_field_embedder": {"token_embedders": embedders},
            "encoder": {"type": "boe", "embedding_dim": 902},
            "classifier": {"num_layers": 0, "batch_norm": False},
        }
        return Params({"model": settings})

    model = Model.from_params(params(str(weights))["model"], vocab=vocab).eval()
    vocab.save_to_files(tmp_path / "vocabulary")
    torch.save(model.state_dict(), tmp_path / "best.th")
    loaded = Model.load(params("gone"), tmp_path).eval()
    ids = torch.tensor([[2, 3, 4]])
    tokens = {"tokens": {"tokens": ids}, "own": {"tokens": ids}}
    torch.testing.assert_close(loaded(tokens)["label_logits"], model(tokens)["label_logits"])


def test_word_vectors_of_another_size(vocab):
    with pytest.raises(ConfigurationError, match=r"300 dimensions; the embedding.s have 100"):
        cove(vocab, embedding={"type": "embedding", "embedding_dim": 100})


class Surprise:
    def __reduce__(self):
        return (open, ("surprise.txt", "w"))


def test_files_that_are_not_its_weights(vocab, mt_lstm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state = mt_lstm.state_dict()
    torch.save({name.replace("l0", "l5"): tensor for name, tensor in state.items()}, "renamed.pth")
    torch.save({name: tensor[:7] for name, tensor in state.items()}, "cut.pth")
    torch.save({"weight_ih_l0": 3}, "number.pth")
    torch.save({"weight_ih_l0": Surprise()}, "code.pth")
    (tmp_path / "plain.pth").write_bytes(pickle.dumps(Surprise()))
    (tmp_path / "empty.pth").write_bytes(b"")
    for name, message in [
        ("renamed.pth", "does not hold MT-LSTM's weights"),
        ("cut.pth", "does not hold MT-LSTM's weights"),
        ("number.pth", "does not hold tensors by name"),
        ("code.pth", "is not a file of tensors"),
        ("plain.pth", "is not a file of tensors"),
        ("empty.pth", "is not a file of tensors"),
    ]:
        with pytest.raises(ConfigurationError, match=f"{name} {message}"):
            cove(vocab, pretrained_file=name)
    assert not (tmp_path / "surprise.txt").exists()
