"""Users' texts: which are accepted, which are refused, and what warnings say."""

import sys
import warnings
from enum import Enum
from unicodedata import category

import numpy
import pandas
import pytest

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.files import texts
from allennlp_sentmatch.files.texts import checked_sentences, is_blank, noting
from allennlp_sentmatch.standalone.splitters import WhitespaceSplitter
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from tests.estimators.tiny_encoder import SENTENCES, tiny_encoder


@pytest.mark.parametrize(
    "text",
    ["", " \t\n", "\u200b", "\ufeff", "\xad\u200d", "\x00\x1f", "\u0301", "\ue000", "\u3164\u2800"],
)
def test_texts_of_invisible_characters_are_blank(text):
    assert is_blank(text)
    for call in (tiny_encoder().encode, SentenceEncoder(tiny_encoder()).encode):
        with pytest.raises(
            ValueError,
            match=r"^sentence 1 is blank; leave it out \(and, in a pair, the other text\)",
        ):
            call(["a", text])


@pytest.mark.parametrize("text", ["a", "?", "\u200b1", "좋아요", "👍", "\u093f", "_", "\u0378"])
def test_texts_that_show_anything_are_not_blank(text):
    assert not is_blank(text)


def test_a_character_is_looked_up_once_in_a_text(monkeypatch):
    """A server looks at texts of 10,000 spaces before it answers others."""
    looked_up = []
    monkeypatch.setattr(texts, "category", lambda one: looked_up.append(one) or category(one))
    assert is_blank(" \t" * 5_000)
    assert sorted(looked_up) == ["\t", " "]


class Word(str, Enum):
    DOG = "a dog"


@pytest.mark.parametrize(
    "sentences",
    [
        numpy.array(["a dog", "x"]),
        numpy.array(["a dog", "x"], dtype=object),
        pandas.Series(["a dog", "x"], index=[7, 3]),
        pandas.array(["a dog", "x"], dtype="string"),
        pandas.DataFrame({"text": ["a dog", "x"]})["text"],
        (text for text in ("a dog", "x")),
        {"a dog": 1, "x": 2}.keys(),
        [Word.DOG, "x"],
    ],
    ids=lambda sentences: type(sentences).__name__,
)
def test_columns_and_iterables_become_plain_strings(sentences):
    checked = checked_sentences(sentences)
    assert checked == ["a dog", "x"]
    assert {type(text) for text in checked} == {str}
    assert checked_sentences(checked) is checked  # is not checked again


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (pandas.DataFrame({"text": ["a"]}), "not DataFrame; take one column"),
        ({"q1": "a", "q2": "b"}, "not dict; take one column"),
        ({"a", "b"}, "not set, which has no order"),
        (numpy.array("a"), "not ndarray"),
        (None, "sentences must be a list or another iterable of strings, not NoneType"),
        (b"x", "a single one goes into a list"),
        ("x", "a single one goes into a list"),
        (["x", b"x"], "sentence 1 must be a string, not bytes"),
        ([float("nan")], "sentence 0 must be a string, not NaN, a missing value"),
        (["x " * 100_000], "sentence 0 has 200,000 characters; at most 10,000"),
        (["x\ud800"], "sentence 0 has the lone surrogate .* at character 1"),
        (pandas.array(["a", None], dtype="string"), "^sentence 1 must be a string, not NAType"),
        ([pandas.NaT], "sentence 0 must be a string, not NaTType"),
        (numpy.array([["a", "b"]]), "sentence 0 must be a string, not ndarray"),
        ([{"text": "a"}], "sentence 0 must be a string, not dict; take one column"),
    ],
    # The order of a set differs between processes.
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_whatever_has_no_order_or_no_strings_is_refused(sentences, message):
    with pytest.raises((TypeError, ValueError), match=message):
        checked_sentences(sentences)


def test_columns_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    assert checked_sentences(arrow.array(["a dog", "x"])) == ["a dog", "x"]
    with pytest.raises(TypeError, match="sentence 1 must be a string, not NoneType"):
        checked_sentences(arrow.chunked_array([["a"], [None]]))
    with pytest.raises(TypeError, match="not Table; take one column"):
        checked_sentences(arrow.table({"text": ["a dog", "x"]}))


def messages(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        call()
    return [str(warning.message) for warning in caught]


def test_one_warning_a_call_names_the_texts_that_are_cut_or_unknown():
    network = tiny_encoder()
    network.indexer.max_length = 3
    encoder = SentenceEncoder(network)
    long = [f"a cat sees a {word}" for word in ["dog", "man", "cat"]]
    texts = [SENTENCES[0], *long, "xyzzy!", *long, "dog", "좋아요"]
    cut = (
        "only the first 3 words or word pieces were encoded of 6 texts (sentence 1, sentence 2, "
        "sentence 3, sentence 5, sentence 6, ...), the first beginning with 'a cat sees a dog"
    )
    unknown = (
        "the encoder knows no word of 2 texts (sentence 4, sentence 9), the first beginning "
        "with 'xyzzy!'"
    )
    for encode in (network.encode, encoder.encode):
        first, second = messages(lambda encode=encode: encode(texts))
        assert first.startswith(cut)
        assert second.startswith(unknown)
    (found,) = messages(lambda: encoder.similarity(["dog", "cat"], ["xyzzy", "cat"]))
    assert "1 text (the second sentence of pair 0)" in found
    (found,) = messages(lambda: encoder.search("plugh", ["dog", "cat"]))
    assert "1 text (the query)" in found
    assert messages(lambda: encoder.encode(["dog", "not ???"])) == []
    assert messages(lambda: SentenceEncoder(tiny_encoder()).vector_size) == []


def test_warnings_are_repeated_and_not_kept():
    encoder = SentenceEncoder(tiny_encoder())
    before = dict(globals().get("__warningregistry__", {}))
    found = messages(lambda: [encoder.encode([f"xyzzy{i % 3}"]) for i in range(9)])
    assert len(found) == 9
    kept = [module.__dict__.get("__warningregistry__", {}) for module in sys.modules.values()]
    assert not any("xyzzy" in str(key) for registry in kept for key in registry)
    assert globals().get("__warningregistry__", {}).keys() <= before.keys() | {"version"}


def test_texts_within_another_call_have_its_positions():
    indexer = TextIndexer(WhitespaceSplitter(), {"a": 2}, unknown=1, empty=1)
    logged = []
    with noting(["a", "b", "c", "b"], "row {}".format, logged.append):
        with noting(["c"]):
            indexer.rows(["c"])
        assert not logged
        indexer.rows(["b", "b"])
    (message,) = logged
    assert message.startswith("the encoder knows no word of 3 texts (row 1, row 2, row 3), the")
    with noting(()):
        indexer.rows(["b"])
    assert len(logged) == 1


def test_texts_are_counted_each_time_they_occur_however_often_they_are_encoded(monkeypatch):
    indexer = TextIndexer(WhitespaceSplitter(), {"a": 2}, unknown=1, empty=1)
    logged = []
    for most_noted in (100, 2):
        monkeypatch.setattr("allennlp_sentmatch.files.texts.MOST_NOTED", most_noted)
        with noting(["b", "a", "b", "c", "d"], "row {}".format, logged.append):
            indexer.rows(["b", "c", "d"])
            indexer.rows(["b", "without c"])
    whole, limited = logged
    assert "no word of 4 texts (row 0, row 2, row 3, row 4), the" in whole
    assert "no word of at least 3 texts (row 0, row 2, row 3), the" in limited


def test_all_messages_have_the_positions_of_texts_that_are_read_once():
    indexer = TextIndexer(WhitespaceSplitter(), {"a": 2}, unknown=1, empty=1, max_length=1)
    logged = []
    with noting(iter(["b", "a a", "c", "a a"]), "row {}".format, logged.append):
        indexer.rows(["a a", "b", "c"])
    unknown, cut = logged
    assert cut.startswith(
        "only the first 1 words or word pieces were encoded of 2 texts (row 1, row 3)"
    )
    assert unknown.startswith("the encoder knows no word of 2 texts (row 0, row 2), the")
