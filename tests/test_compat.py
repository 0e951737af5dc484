"""Tests of the patches in `allennlp_sentmatch.compat`; each fails without its patch."""

import pathlib
import pickle

import numpy
import pytest
import torch
from allennlp.common import Params, cached_transformers
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Instance, TokenIndexer, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader, SimpleDataLoader
from allennlp.data.fields import TextField
from allennlp.data.samplers import BucketBatchSampler, MaxTokensBatchSampler
from allennlp.data.tokenizers import PretrainedTransformerTokenizer, WhitespaceTokenizer
from allennlp.modules import TokenEmbedder
from allennlp.modules.transformer import TransformerEmbeddings, TransformerStack
from allennlp.training import Trainer
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.optimizers import Optimizer
from transformers import AutoModel

from allennlp_sentmatch.data.dataset_readers import SentencePairReader


@pytest.fixture
def optimizer():
    parameter = torch.nn.Parameter(torch.zeros(2))
    return Optimizer.from_params(
        Params({"type": "sgd", "lr": 1.0}), model_parameters=[("weight", parameter)]
    )


def test_reduce_on_plateau_halves_the_learning_rate(optimizer):
    params = Params({"type": "reduce_on_plateau", "mode": "max", "factor": 0.5, "patience": 0})
    scheduler = LearningRateScheduler.from_params(params, optimizer=optimizer)
    for accuracy in [0.7, 0.8, 0.8, 0.9]:
        scheduler.step(accuracy)
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_reduce_on_plateau_takes_all_its_arguments(optimizer):
    arguments = {
        "verbose": True,
        "threshold_mode": "abs",
        "threshold": 0.05,
        "cooldown": 1,
        "min_lr": 0.25,
        "eps": 1e-3,
        "factor": 0.5,
        "patience": 0,
    }
    params = Params({"type": "reduce_on_plateau", **arguments})
    scheduler = LearningRateScheduler.from_params(params, optimizer=optimizer)
    for loss in [1.0, 0.96, 0.96, 0.96, 0.96, 0.96, 0.96]:
        scheduler.step(loss)
    assert optimizer.param_groups[0]["lr"] == 0.25  # 0.04 is too small an improvement; then min_lr
    assert scheduler.lr_scheduler.eps == 1e-3


def test_a_training_state_with_a_numpy_number_loads(tmp_path):
    torch.save({"lr": numpy.float64(0.25)}, tmp_path / "training_state.th")
    assert torch.load(tmp_path / "training_state.th")["lr"] == 0.25


class Malicious:
    """Runs a function when it is unpickled."""

    def __reduce__(self):
        return (print, ("this ran while a file was loaded",))


@pytest.mark.skipif(
    not hasattr(torch.serialization, "add_safe_globals"), reason="torch 1.12 loads everything"
)
@pytest.mark.parametrize("content", [Malicious(), pathlib.Path("a"), numpy.zeros(2)])
def test_nothing_else_loads(tmp_path, content, capsys):
    torch.save({"content": content}, tmp_path / "weights.th")
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global"):
        torch.load(tmp_path / "weights.th")
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("start_method", "max_instances_in_memory"),
    [("fork", None), ("fork", 10), ("spawn", 10)],  # with 10 they make batches, too
)
def test_workers_of_either_start_method_read_the_data(
    fixtures, start_method, max_instances_in_memory
):
    loader = MultiProcessDataLoader(
        SentencePairReader(format="table", sentence1=0, sentence2=1, label=2, max_instances=40),
        str(fixtures / "quick_start" / "test.tsv"),
        batch_size=8,
        num_workers=1,
        max_instances_in_memory=max_instances_in_memory,
        start_method=start_method,
    )
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    assert sum(len(batch["label"]) for batch in loader) == 40


def test_no_random_numbers_are_drawn_where_no_batch_can_be_left_out(fixtures):
    reader = SentencePairReader("table", sentence1=0, sentence2=1, label=2, max_instances=40)
    sampler = MaxTokensBatchSampler(max_tokens=99, padding_noise=0.1)
    state = torch.get_rng_state()
    data = str(fixtures / "quick_start" / "test.tsv")
    MultiProcessDataLoader(reader, data, batch_sampler=sampler)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize("in_buckets", [False, True])
def test_data_of_which_drop_last_leaves_no_batch_are_refused(fixtures, lazily, in_buckets):
    def load(batch_size):
        reader = SentencePairReader(
            format="table", sentence1=0, sentence2=1, label=2, max_instances=40
        )
        batches = {"batch_size": batch_size, "drop_last": True}
        if in_buckets:
            batches = {"batch_sampler": BucketBatchSampler(**batches)}
        data = str(fixtures / "quick_start" / "test.tsv")
        limit = {"max_instances_in_memory": 50} if lazily else {}
        loader = MultiProcessDataLoader(reader, data, **batches, **limit)
        loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
        return [len(batch["label"]) for batch in loader]

    assert load(40) == [40]
    with pytest.raises(ConfigurationError, match=r"test\.tsv: drop_last leaves no batch of 41"):
        load(41)


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


def test_the_special_tokens_of_a_pair_are_known(tiny_bert):
    tokenizer = PretrainedTransformerTokenizer(tiny_bert, add_special_tokens=False)
    first, second = (tokenizer.tokenize(text) for text in ("a man", "is dog"))
    pair = tokenizer.add_special_tokens(first, second)
    assert [token.text for token in pair] == ["[CLS]", "a", "man", "[SEP]", "is", "dog", "[SEP]"]
    assert [token.type_id for token in pair] == [0, 0, 0, 0, 1, 1, 1]


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
    # AllenNLP's cache does not tell transformers of different settings apart.
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
@pytest.mark.parametrize("others", [[], ["a"], ["a man sleeps unhappily ."]])
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


@pytest.mark.parametrize("safe_serialization", [True, False])
def test_pretrained_modules_compute_what_the_transformer_does(
    tiny_bert, tmp_path, safe_serialization
):
    transformer = AutoModel.from_pretrained(tiny_bert).eval()
    transformer.save_pretrained(tmp_path, safe_serialization=safe_serialization)
    embeddings = TransformerEmbeddings.from_pretrained_module(str(tmp_path)).eval()
    stack = TransformerStack.from_pretrained_module(str(tmp_path)).eval()
    ids = torch.tensor([[2, 5, 6, 7, 8, 3]])
    outputs = stack(embeddings(ids, torch.zeros_like(ids)), torch.ones_like(ids)[:, None, None])
    expected = transformer(ids).last_hidden_state
    torch.testing.assert_close(outputs.final_hidden_states, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["gradient_descent", "bfloat16"])
def test_a_misspelt_setting_of_the_trainer_is_refused(kind):
    loader = SimpleDataLoader([], batch_size=1)
    parts = {"model": torch.nn.Linear(1, 1), "data_loader": loader, "serialization_dir": None}
    assert Trainer.from_params(Params({"type": kind, "num_epochs": 3}), **parts)
    message = "^the trainer .* has no setting 'num_epoch': did you mean 'num_epochs'"
    with pytest.raises(ConfigurationError, match=message):
        Trainer.from_params(Params({"type": kind, "num_epoch": 3}), **parts)
