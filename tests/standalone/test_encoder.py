"""An encoder gives the same vectors with only PyTorch, saved, in any batch, with shared words."""

import json

import numpy
import pytest
import torch

from allennlp_sentmatch.nn import CellAwareLSTM, Pooling
from allennlp_sentmatch.nn.word_coverage import word_coverage
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.splitters import RuleSplitter
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from tests.nn.test_without_allennlp import run_without

WORDS = ["@@PADDING@@", "@@UNKNOWN@@", "a", "dog", "runs"]
SETTINGS = {
    "type": "pooled",
    "encoder": {
        "type": "cas_lstm",
        "input_size": 4,
        "hidden_size": 3,
        "num_layers": 2,
        "bidirectional": True,
        "vertical_weight": 0.5,
        "vertical_gate": "hidden",
    },
    "pooling": ["mean", "last"],
}
SENTENCES = ["a dog runs", "dog", "a dog barks and runs", "runs", "a dog runs"]


def make(projection_size=5):
    torch.manual_seed(0)
    known = {word: index for index, word in enumerate(WORDS) if index}
    indexer = TextIndexer(RuleSplitter(), known, unknown=1, empty=1)
    return StandaloneEncoder(indexer, WORDS, 4, SETTINGS, projection_size).eval()


def test_trees_are_not_sampled_in_training():
    tree = {
        "type": "gumbel_tree_lstm",
        "input_size": 4,
        "hidden_size": 3,
        "leaf": "lstm",
    }
    encoder = StandaloneEncoder(make().indexer, WORDS, 4, tree).eval()
    expected = encoder.encode(SENTENCES * 5)
    assert numpy.array_equal(encoder.train().encode(SENTENCES * 5), expected)
    assert encoder.training


@pytest.fixture
def folder(tmp_path):
    make().save(tmp_path / "encoder")
    return tmp_path / "encoder"


def test_word_coverage_is_of_the_words_vectors():
    """Test batches of pairs, with unknown words, and no pairs."""
    encoder = make()
    encoder.indexer.max_length = 3
    rows = {
        "a dog runs fast": [2, 3, 4],
        "dog": [3],
        "It runs": [1, 4],
    }
    pairs = [(first, second) for first in rows for second in rows]
    found = encoder.word_coverage(*zip(*pairs), batch_size=4)
    for row, pair in zip(found, pairs):
        words = [encoder.embedding.weight[rows[text]][None] for text in pair]
        masks = [torch.ones(side.shape[:2], dtype=torch.bool) for side in words]
        torch.testing.assert_close(row, word_coverage(*words, *masks)[0].detach())
    assert encoder.word_coverage([], []).shape == (0, 4)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (["a dog", "It runs"], ["a dog"], "as many second texts as first ones; got 2 and 1"),
        (["a dog"], ["a dog", "It runs"], "as many second texts as first ones; got 1 and 2"),
        ("It runs", "a dog", "first must be a list of strings, not str"),
        (["It runs"], {"a dog"}, "second must be a list of strings, not set"),
    ],
)
def test_coverage_refuses_texts_that_are_not_pairs(first, second, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make().word_coverage(first, second)


@pytest.mark.parametrize("projection_size", [None, 5])
def test_vectors_are_those_of_the_parts(projection_size):
    encoder = make(projection_size)
    lstm = CellAwareLSTM(4, 3, bidirectional=True)
    pooling = Pooling(6, ["mean", "last"], True)
    lstm.load_state_dict(encoder.encoder.encoder.state_dict())
    project = encoder.projection if projection_size else torch.nn.Identity()
    indices = [[2, 3, 4], [3], [2, 3, 1, 1, 4], [4], [2, 3, 4]]
    vectors = encoder.encode(SENTENCES, batch_size=2)
    for vector, row in zip(vectors, indices):
        mask = torch.ones(1, len(row), dtype=torch.bool)
        states = lstm(encoder.embedding(torch.tensor([row])), mask)
        expected = project(pooling(states, mask))[0].detach()
        numpy.testing.assert_allclose(vector, expected, atol=1e-6)
    assert vectors.shape == (5, projection_size or 12)


def test_what_is_saved_is_loaded(folder):
    encoder = StandaloneEncoder.load(folder)
    assert not encoder.training
    numpy.testing.assert_allclose(encoder.encode(SENTENCES), make().encode(SENTENCES), atol=1e-6)
    assert encoder.encode([]).shape == (0, 5)
    assert encoder.encode(["a"]).dtype == numpy.float32
    assert encoder.encode([]).dtype == numpy.float32
    assert encoder.bfloat16().encode(["a"]).dtype == numpy.float32
    for size in (-1, True, "1"):
        with pytest.raises(
            ValueError, match=f"batch_size must be an integer of at least 1; got {size!r}"
        ):
            encoder.encode(["a"], batch_size=size)


def test_neither_allennlp_nor_spacy_is_needed(folder):
    """It also needs no other package that torch does not need."""
    expected = make().encode(SENTENCES).tolist()
    output = run_without(
        f"""
HIDDEN |= {{"safetensors", "transformers", "sentence_transformers", "tokenizers"}}
from allennlp_sentmatch.standalone import StandaloneEncoder

print(StandaloneEncoder.load({str(folder)!r}).encode({SENTENCES}).tolist())
"""
    )
    torch.testing.assert_close(torch.tensor(json.loads(output)), torch.tensor(expected))


LSTM_SETTINGS = {
    "type": "pooled",
    "encoder": {
        "type": "lstm",
        "input_size": 4,
        "hidden_size": 3,
        "num_layers": 1,
        "bidirectional": True,
        "bias": True,
    },
    "pooling": ["mean"],
    "input_size": 6,
}


def make_lstm(projection_size=5):
    """An encoder like the package's, with random parameters."""
    torch.manual_seed(0)
    return StandaloneEncoder(make().indexer, WORDS, 6, LSTM_SETTINGS, projection_size).eval()


@pytest.mark.parametrize("projection_size", [None, 5])
@pytest.mark.parametrize("most_words", [1, 4096])
def test_words_that_are_shared_change_nothing(projection_size, most_words, monkeypatch):
    """The vectors equal those of separate calls, for any limit on the table's words."""
    from allennlp_sentmatch.standalone import encoder as module

    monkeypatch.setattr(module, "MOST_WORDS", most_words)
    encoder = make_lstm(projection_size)
    texts = SENTENCES + [" ".join(["a dog"] * 20)] * 9
    with torch.no_grad():
        expected = [encoder(torch.tensor([encoder.indexer.indices(text)])) for text in texts]
    for batch_size in (1, 4, 100):
        vectors = encoder.encode(texts, batch_size=batch_size)
        numpy.testing.assert_allclose(
            vectors,
            torch.cat(expected),
            atol=1e-6,
            rtol=0,
        )


def test_words_are_shared_if_nothing_else_must_run():
    """Hooks run, and a replaced part is used."""
    encoder = make_lstm(None)
    expected = encoder.encode(SENTENCES)
    calls = []
    handle = encoder.encoder.encoder.register_forward_hook(lambda *_: calls.append(1))
    numpy.testing.assert_allclose(
        encoder.encode(SENTENCES),
        expected,
        atol=1e-6,
        rtol=0,
    )
    assert calls
    handle.remove()
    encoder.encoder.encoder.forward = lambda inputs, mask: torch.ones(*inputs.shape[:2], 6)
    assert encoder.encode(["a dog"])[:, :6].tolist() == [[1] * 6]


def test_autocast_leaves_the_recurrence_in_float32():
    encoder = make_lstm(None)
    expected = encoder.encode(SENTENCES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert numpy.array_equal(encoder.encode(SENTENCES), expected)
