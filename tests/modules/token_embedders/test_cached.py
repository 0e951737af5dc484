"""The cache of a frozen transformer, against the transformer without it."""

import logging

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, DatasetReader, Vocabulary
from allennlp.modules.token_embedders import TokenEmbedder

import allennlp_sentmatch  # noqa: F401  (registers the embedder)
from tests.tiny_bert import HIDDEN_SIZE

ROUNDING = {"atol": 1e-4, "rtol": 1e-4}
"""The tolerance for float32 in other batches and instruction sets: SSE differs by 1.04e-5."""

TEXTS = ["a man sleeps", "a dog sleeps", "a man", "the man sleeps unhappily in the garden"]


@pytest.fixture(params=[(False, None), (True, None), (True, 6)], ids=["pieces", "words", "parts"])
def transformer(request, tiny_bert) -> dict:
    """The parameters of a frozen transformer over word pieces, words, or words in parts."""
    mismatched, max_length = request.param
    settings = {
        "model_name": tiny_bert,
        "max_length": max_length,
        "train_parameters": False,
    }
    return {"type": "pretrained_transformer" + "_mismatched" * mismatched, **settings}


def embedder_of(params: dict) -> TokenEmbedder:
    return TokenEmbedder.from_params(Params(dict(params)))


def cached(transformer: dict, **params) -> TokenEmbedder:
    """A cached embedder that is being trained."""
    return embedder_of({"type": "cached", "embedder": dict(transformer), **params}).train()


def tensors_of(texts: list[str], transformer: dict) -> dict[str, torch.Tensor]:
    settings = {key: transformer[key] for key in ("type", "model_name", "max_length")}
    reader = {"type": "single_sentence", "token_indexers": {"tokens": settings}}
    if transformer["type"] == "pretrained_transformer":
        reader["tokenizer"] = {key: settings[key] for key in ("type", "model_name")}
    reader = DatasetReader.from_params(Params({"format": "trec", **reader}))
    batch = Batch([reader.text_to_instance(text) for text in texts])
    for instance in batch.instances:
        reader.apply_token_indexers(instance)
    batch.index_instances(Vocabulary.empty())
    return batch.as_tensor_dict()["tokens"]["tokens"]


def count_texts(monkeypatch, embedder) -> list[int]:
    """The number of texts in each call of the transformer, a list that is filled later."""
    counts = []
    forward = embedder.embedder.forward

    def counted(**tensors):
        counts.append(len(tensors["mask"]))
        return forward(**tensors)

    monkeypatch.setattr(embedder.embedder, "forward", counted)
    return counts


def assert_same(embedder, transformer, texts, device="cpu") -> None:
    """A cached embedder has the outputs of the transformer, up to padding."""
    tensors = tensors_of(texts, transformer)
    mask = tensors["mask"].unsqueeze(-1)
    expected = embedder_of(transformer).eval()(**tensors)
    actual = embedder(**{name: tensor.to(device) for name, tensor in tensors.items()})
    torch.testing.assert_close(actual.cpu() * mask, expected * mask, **ROUNDING)


def test_each_text_is_read_once_in_a_training(transformer, monkeypatch):
    embedder = cached(transformer)
    assert not any(module.training for module in embedder.embedder.modules())  # without dropout
    counts = count_texts(monkeypatch, embedder.eval())
    with torch.no_grad():
        for _ in range(2):  # before training, nothing is kept
            assert_same(embedder, transformer, TEXTS)
    embedder.train()
    assert_same(embedder, transformer, TEXTS[:2])
    assert_same(embedder, transformer, [TEXTS[3], TEXTS[1], TEXTS[3], TEXTS[0]])  # more padding
    assert_same(embedder, transformer, TEXTS[1::-1])
    with torch.no_grad():
        assert_same(embedder.eval(), transformer, TEXTS)
        assert_same(embedder, transformer, TEXTS)
    assert counts == [4, 4, 2, 1, 1]


def test_on_a_gpu(transformer, simulated_gpu):
    embedder = cached(transformer).to("simulated")
    for texts in (TEXTS[:2], TEXTS):
        assert_same(embedder, transformer, texts, "simulated")


def test_texts_that_differ_in_their_last_tokens_only(transformer):
    """Zero is the id of padding and of a token."""
    embedder = cached(transformer)
    tensors = tensors_of(["a man", "a man man"], transformer)
    tensors["token_ids"] = tensors["token_ids"] * 0
    first = embedder(**tensors)
    assert first[0, : tensors["mask"][0].sum()].shape != first[1, : tensors["mask"][1].sum()].shape
    mask = tensors["mask"].unsqueeze(-1)
    expected = embedder_of(transformer).eval()(**tensors)
    torch.testing.assert_close(first * mask, expected * mask, **ROUNDING)


def test_other_ids_of_padding(transformer, monkeypatch):
    """RoBERTa pads with 1."""
    embedder = cached(transformer)
    counts = count_texts(monkeypatch, embedder)
    for texts in (TEXTS[2:], TEXTS[2:3]):
        tensors = tensors_of(texts, transformer)
        pieces = tensors.get("segment_concat_mask", tensors.get("wordpiece_mask", tensors["mask"]))
        tensors["token_ids"] = tensors["token_ids"].masked_fill(~pieces, 1)
        embedder(**tensors)
    assert counts == [2]


def test_gradients_with_respect_to_word_embeddings(transformer):
    """Saliency needs gradients, also after training."""
    embedder = cached(transformer)
    tensors = tensors_of(TEXTS[:2], transformer)
    embedder(**tensors)
    words = next(m for m in embedder.modules() if isinstance(m, torch.nn.Embedding))
    leaves = []
    words.register_forward_hook(
        lambda _, __, output: (leaves.append(output.detach().requires_grad_()), leaves[-1])[1]
    )
    embedder.eval()(**tensors).square().sum().backward()
    assert leaves[0].grad[0].any()


def test_other_weights_empty_the_cache(transformer):
    embedder = cached(transformer)
    tensors = tensors_of(TEXTS, transformer)
    before = embedder(**tensors)
    embedder.load_state_dict({name: 2 * value for name, value in embedder.state_dict().items()})
    after = embedder(**tensors)
    assert not torch.allclose(before, after)
    expected = embedder.embedder(**tensors) * tensors["mask"].unsqueeze(-1)
    torch.testing.assert_close(after, expected, **ROUNDING)
    assert embedder.double()(**tensors).dtype == torch.float64


def test_precision_of_the_parameters_under_autocast(transformer):
    embedder = cached(transformer)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        embedded = embedder(**tensors_of(TEXTS, transformer))
    assert embedded.dtype == torch.float32
    assert_same(embedder, transformer, TEXTS)


def test_a_full_cache(transformer, monkeypatch, caplog):
    """Cached texts are found, others are computed, and there is one warning."""
    tensors = tensors_of(TEXTS, transformer)
    size = tensors["mask"][:2].sum().item() * HIDDEN_SIZE * 4
    embedder = cached(transformer, capacity=size / 2**30)
    counts = count_texts(monkeypatch, embedder)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert_same(embedder, transformer, TEXTS)
    assert counts == [4, 2, 2]
    assert [record.args[0] for record in caplog.records if "is full" in record.message] == [2]


def test_the_weights_are_those_of_the_transformer_and_not_the_cache(transformer):
    embedder = cached(transformer)
    names = set(embedder.state_dict())
    embedder(**tensors_of(TEXTS, transformer))
    assert set(embedder.state_dict()) == names
    assert names == {f"embedder.{name}" for name in embedder_of(transformer).state_dict()}
    assert embedder.get_output_dim() == HIDDEN_SIZE


def test_a_transformer_that_is_trained_at_once_or_later(transformer):
    with pytest.raises(ConfigurationError, match="only a frozen embedder can be cached"):
        cached({**transformer, "train_parameters": True})
    embedder = cached(transformer)
    tensors = tensors_of(TEXTS, transformer)
    embedder(**tensors)
    next(embedder.parameters()).requires_grad_(True)
    with pytest.raises(ConfigurationError, match="only a frozen embedder can be cached"):
        embedder(**tensors)
    assert embedder.eval()(**tensors).requires_grad
