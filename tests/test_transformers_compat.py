"""Tests of `transformers_compat`; each fails without its patch."""

import pytest
import torch
from allennlp.common import Params, cached_transformers
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Instance, TokenIndexer, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.tokenizers import PretrainedTransformerTokenizer, WhitespaceTokenizer
from allennlp.modules import TokenEmbedder
from transformers import DistilBertConfig, DistilBertModel, DistilBertTokenizerFast

from tests.tiny_bert import VOCABULARY


@pytest.mark.parametrize("use_fast", [True, False])
@pytest.mark.parametrize("add_special_tokens", [True, False])
def test_word_pieces_have_special_tokens_if_they_are_wanted(
    tiny_bert, use_fast, add_special_tokens
):
    tokenizer = PretrainedTransformerTokenizer(
        tiny_bert, add_special_tokens=add_special_tokens, tokenizer_kwargs={"use_fast": use_fast}
    )
    assert tokenizer.tokenizer.is_fast == use_fast
    tokens = [token.text for token in tokenizer.tokenize("A man sleeps.")]
    inner = ["a", "man", "sleep", "##s", "."]
    assert tokens == (["[CLS]", *inner, "[SEP]"] if add_special_tokens else inner)
    pieces, offsets = tokenizer.intra_word_tokenize(["unhappily", "", "a"])
    assert [piece.text for piece in pieces] == ["[CLS]", "un", "##happi", "##ly", "a", "[SEP]"]
    assert offsets == [(1, 3), None, (4, 4)]


# The special tokens of a pair are tested by tests/data/dataset_readers/test_pair_joiner.py.


def test_pairs_for_a_transformer_that_does_not_number_sentences(tmp_path):
    folder = str(tmp_path)
    own = DistilBertTokenizerFast(str(VOCABULARY))
    own.save_pretrained(folder)
    sizes = {
        "dim": 8,
        "n_layers": 1,
        "n_heads": 2,
        "hidden_dim": 8,
    }
    model = DistilBertModel(DistilBertConfig(vocab_size=len(own), **sizes)).eval()
    model.save_pretrained(folder)
    tokenizer = PretrainedTransformerTokenizer(folder, add_special_tokens=False)
    pair = ["a man sleeps", "a dog"]
    pieces = tokenizer.add_special_tokens(*map(tokenizer.tokenize, pair))
    settings = {"type": "pretrained_transformer", "model_name": folder}
    field = TextField(pieces, {"a": TokenIndexer.from_params(Params(dict(settings)))})
    field.index(Vocabulary.empty())
    tensors = field.as_tensor(field.get_padding_lengths())["a"]
    assert tensors["type_ids"].max() == 1
    embedder = TokenEmbedder.from_params(Params(settings)).eval()
    embedded = embedder(**{name: tensor[None] for name, tensor in tensors.items()})
    expected = model(**own(*pair, return_tensors="pt")).last_hidden_state
    torch.testing.assert_close(embedded, expected)


BOTH_KINDS = pytest.mark.parametrize(
    "kind", ["pretrained_transformer", "pretrained_transformer_mismatched"]
)


def tensors_of(texts, kind, folder, **settings):
    """The tensors of a transformer's own word pieces or of the words between spaces."""
    own = kind == "pretrained_transformer"
    tokenizer = PretrainedTransformerTokenizer(folder) if own else WhitespaceTokenizer()
    indexer = TokenIndexer.from_params(Params({"type": kind, "model_name": folder, **settings}))
    batch = Batch(
        [Instance({"text": TextField(tokenizer.tokenize(text), {"a": indexer})}) for text in texts]
    )
    batch.index_instances(Vocabulary.empty())
    return batch.as_tensor_dict()["text"]["a"]


def embedder_of(kind, folder, **settings):
    # AllenNLP's cache does not distinguish transformers with different settings.
    cached_transformers._clear_caches()
    return TokenEmbedder.from_params(Params({"type": kind, "model_name": folder, **settings}))


NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


@BOTH_KINDS
@pytest.mark.parametrize(("gradient_checkpointing", "calls"), [(True, 2), (False, 1), (None, 1)])
def test_gradient_checkpointing_computes_layers_twice(
    tiny_bert, kind, gradient_checkpointing, calls
):
    tensors = tensors_of(["a man", "a dog sleeps"], kind, tiny_bert)
    settings = {"transformer_kwargs": NO_DROPOUT}
    usual = embedder_of(kind, tiny_bert, **settings)
    embedder = embedder_of(
        kind, tiny_bert, gradient_checkpointing=gradient_checkpointing, **settings
    )
    (layer,) = (m for n, m in embedder.named_modules() if n.endswith("layer.0.intermediate"))
    called = []
    layer.register_forward_hook(lambda *_: called.append(1))
    for model in (usual, embedder):
        vectors = model.train()(**tensors)
        # Not their squares, whose sum the last layer's normalization keeps constant.
        factors = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(0))
        (vectors * factors).sum().backward()
    assert len(called) == calls
    for (name, weight), (_, expected) in zip(embedder.named_parameters(), usual.named_parameters()):
        if "pooler" not in name:
            torch.testing.assert_close(weight.grad, expected.grad)


@BOTH_KINDS
def test_weights_with_the_numbers_of_positions_load(tiny_bert, kind):
    embedder = embedder_of(kind, tiny_bert)
    model = torch.nn.ModuleDict({"embedder": embedder})
    state = model.state_dict()
    (name,) = (key for key in state if key.endswith("position_embeddings.weight"))
    state[name.replace("position_embeddings.weight", "position_ids")] = torch.arange(512)[None]
    state[name] = torch.ones_like(state[name])
    model.load_state_dict(state)
    assert (model.state_dict()[name] == 1).all()
    with pytest.raises(RuntimeError, match="Unexpected key"):
        model.load_state_dict({**state, "embedder.other": torch.zeros(1)})


@BOTH_KINDS
@pytest.mark.parametrize(
    "others",
    [
        [],
        ["a"],
        ["a man sleeps unhappily ."],
    ],
)
def test_a_transformer_with_max_length_reads_a_text_without_word_pieces(tiny_bert, kind, others):
    settings = {"max_length": 5}
    texts = ["\u200b", *others]  # a space of no width
    embedder = embedder_of(kind, tiny_bert, **settings).eval()
    tensors = tensors_of(texts, kind, tiny_bert, **settings)
    vectors = embedder(**tensors)
    assert vectors.shape[:2] == tensors["mask"].shape
    assert torch.isfinite(vectors).all()
    # Without `max_length`, the text of special tokens only is embedded in the same way.
    alone = embedder_of(kind, tiny_bert).eval()(**tensors_of(texts[:1], kind, tiny_bert))
    torch.testing.assert_close(vectors[:1, : alone.size(1)], alone)


@pytest.mark.parametrize("kind", ["pretrained_transformer", "pretrained_transformer_mismatched"])
def test_a_text_that_is_longer_than_the_transformer_reads(tiny_bert, kind):
    settings = {"type": kind, "model_name": tiny_bert}
    indexer = TokenIndexer.from_params(Params({**settings}))
    embedder = TokenEmbedder.from_params(Params({**settings})).eval()
    tokens = WhitespaceTokenizer().tokenize("a " * 600)
    batch = Batch([Instance({"text": TextField(tokens, {"tokens": indexer})})])
    batch.index_instances(Vocabulary())
    message = r"has 60\d word pieces, but the transformer reads up to 512: cut texts by .*max_len"
    with pytest.raises(ConfigurationError, match=message):
        embedder(**batch.as_tensor_dict()["text"]["tokens"])


def test_other_errors_of_a_transformer_are_its_own(tiny_bert):
    settings = {"type": "pretrained_transformer", "model_name": tiny_bert}
    embedder = TokenEmbedder.from_params(Params(settings)).eval()
    with pytest.raises(IndexError):
        embedder(token_ids=torch.tensor([[10_000]]), mask=torch.tensor([[True]]))
