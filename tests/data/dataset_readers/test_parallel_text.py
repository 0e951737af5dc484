"""Pairs of sentences are read from aligned files or columns; long ones are counted."""

import gzip
import logging

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader


def make(**settings):
    return DatasetReader.from_params(
        Params({"type": "parallel_text", "source_tokenizer": "whitespace", **settings})
    )


def lines(*sentences):
    return "".join(f"{sentence}\n" for sentence in sentences)


def pairs(reader, path):
    return [
        (instance["metadata"]["source"], instance["metadata"]["target"])
        for instance in reader.read(str(path))
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_aligned_files_and_one_with_tabs(write, tmp_path, pack):
    write(pack(lines("ein Hund", "", "zwei Katzen ").encode()), "train.de.gz")
    write(pack(lines("a dog", "", "two cats").encode()), "train.en.gz")
    write(pack(lines("ein Hund\ta dog", "zwei Katzen\ttwo cats").encode()), "train.tsv")
    for path in ("train.{de,en}.gz", "train.tsv"):
        expected = [("ein Hund", "a dog"), ("zwei Katzen", "two cats")]
        assert pairs(make(), tmp_path / path) == expected


def test_long_pairs_are_left_out_and_counted(write, caplog):
    path = write(lines("a b c\ta b", "a b\ta b c", "a b\ta b"))
    with caplog.at_level(logging.INFO):
        assert pairs(make(max_length=2), path) == [("a b", "a b")]
        assert pairs(make(max_length=2, max_instances=1), path) == [("a b", "a b")]
    assert "left out 2 of more than 2 tokens" in caplog.text
    message = r"no example is read: left out 3 of more than 1 tokens \(max_length\)"
    with pytest.raises(ConfigurationError, match=message):
        pairs(make(max_length=1), path)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (["a", "b"], ["a"], r"train\.en has 1 lines, but .*train\.de has more"),
        (["a"], ["a", "b"], r"train\.de has 1 lines, but .*train\.en has more"),
        (["a", ""], ["a", "b"], r"train\.de, line 2: the sentence is blank"),
        (["a", "b"], ["a", " "], r"train\.de, line 2: the translation is blank"),
        ([""], [""], "no example is read: it has none"),
    ],
)
def test_files_that_are_not_aligned(write, tmp_path, source, target, message):
    write(lines(*source), "train.de")
    write(lines(*target), "train.en")
    with pytest.raises(ConfigurationError, match=message):
        pairs(make(), f"{tmp_path}/train.{{de,en}}")


def test_incomplete_pairs_can_be_left_out(write, caplog):
    path = write(lines("a\tb", "c\t", "\td", "\t", "", "e\tf"))
    with pytest.raises(ConfigurationError, match=r"line 2: the translation is blank.*skip_inc"):
        pairs(make(), path)
    with caplog.at_level("INFO"):
        assert pairs(make(skip_incomplete=True), path) == [("a", "b"), ("e", "f")]
    assert "left out 2 with a blank side" in caplog.text
    with pytest.raises(ConfigurationError, match=r"data\.txt, line 2: expected a sentence, a tab"):
        pairs(make(), write(lines("a\tb", "a b")))
    message = r"no example is read: left out 1 with a blank side \(skip_incomplete\)"
    with pytest.raises(ConfigurationError, match=message):
        pairs(make(skip_incomplete=True), write(lines("a\t")))


def test_the_word_padding_in_a_translation_is_an_unknown_word():
    instance = make().text_to_instance("a", "b @@PADDING@@")
    tokens = [token.text for token in instance["target_tokens"]]
    assert tokens == ["@start@", "b", "@@UNKNOWN@@", "@end@"]
    assert instance["metadata"]["target_tokens"] == ["b", "@@PADDING@@"]
