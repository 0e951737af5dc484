"""Words have the indices of AllenNLP's vocabulary, however they are spelled."""

import pickle

import pytest

from allennlp_sentmatch.files.texts import collecting
from allennlp_sentmatch.standalone import text_indexer
from allennlp_sentmatch.standalone.splitters import RuleSplitter, WhitespaceSplitter
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter

VOCABULARY = {"a": 2, "dog": 3, "runs": 4, "A": 5}


@pytest.mark.parametrize("cache_size", [0, 1, 100])
def test_indices(monkeypatch, cache_size):
    monkeypatch.setattr(text_indexer, "CACHE_SIZE", cache_size)
    indexer = TextIndexer(WhitespaceSplitter(), VOCABULARY, unknown=1, empty=6)
    for _ in range(2):
        assert indexer.rows(["A dog and a\tdog runs"]) == [[5, 3, 1, 2, 3, 4]]
    assert len(indexer._chunks) == min(cache_size, 5)
    indexer.indices("a" * 101)  # a visitor could send many
    assert len(indexer._chunks) == min(cache_size, 5)


def test_remembered_chunks_are_not_pickled():
    """Others compute digests of what is pickled."""
    indexer = TextIndexer(WhitespaceSplitter(), VOCABULARY, unknown=1, empty=6)
    content = pickle.dumps(indexer)
    indexer.rows(["A dog and a\tdog runs"])
    assert indexer._chunks
    assert pickle.dumps(indexer) == content


def test_an_extended_vocabulary():
    vocabulary = dict(VOCABULARY)
    indexer = TextIndexer(WhitespaceSplitter(), vocabulary, unknown=1, empty=6)
    with collecting() as unknown:
        assert indexer.rows(["a cat", "?"]) == [[2, 1], [1]]
        vocabulary["cat"] = 7
        vocabulary["?"] = 8
        assert indexer.rows(["a cat", "cow ?"]) == [[2, 7], [1, 8]]
    assert unknown == {"?", "cow ?"}


def test_the_word_of_the_padding_is_no_padding():
    vocabulary = {**VOCABULARY, "@@padding@@": 7}
    indexer = TextIndexer(
        WhitespaceSplitter(),
        vocabulary,
        unknown=1,
        empty=6,
        lowercase=True,
    )
    assert indexer.indices("@@PADDING@@ @@Padding@@") == [6, 7]


def test_unknown_and_spelled_words():
    """The encoder is for English, so that it reads other scripts at most letter by letter."""
    pieces = ["[PAD]", "[UNK]", "cost", "x", "##y", "10", "##€", "д", "##о", "##м", "он", "."]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    indexer = TextIndexer(
        WordPieceSplitter(pieces),
        vocabulary,
        unknown=1,
        empty=1,
    )
    expected = {
        "Costs? cost.": ["Costs?"],
        "cost 10€ xy": [],
        "cost дом. он д": ["дом."],
        "дом 10€€": ["дом", "10€€"],
    }
    found = list(indexer.unknown_words(expected))
    assert found == list(expected.values())


def test_chunks_that_depend_on_their_neighbors_are_not_remembered():
    splitter = RuleSplitter(
        suffix=r"[:)]$",
        special_cases={":)": [":)"]},
        rejoined={":)": [":", ")"]},
    )
    vocabulary = {"a": 2, ":)": 3, ":": 4, ")": 5}
    indexer = TextIndexer(splitter, vocabulary, unknown=1, empty=1)
    for _ in range(2):
        assert indexer.indices("a a:) a: )") == [2, 2, 3, 2, 4, 5]
    assert indexer._chunks["a:)"] is None
