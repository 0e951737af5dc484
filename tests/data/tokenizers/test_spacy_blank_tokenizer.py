"""The tokens are those of spaCy's rules, without a model and with limited memory."""

import sys

import pytest
import spacy
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import SpacyTokenizer, Tokenizer

from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer, spacy_blank_tokenizer

TEXTS = [
    "Apple isn't looking at buying U.K. startup for $1 billion",
    "Let's go to N.Y.!",
    '  "Yes,"  she said -- he\'d   come (by 10:30 a.m.) \n',
    "A man's dog can't swim, cannot swim; won't swim...",
    "e-mail me@example.org or see http://example.org/a?b=c :-)",
    "naïve café, 3.5% of 1,000km²",
    "",
    " \t ",
]


def words(tokens):
    return [token.text for token in tokens]


def test_same_tokens_and_offsets_as_allennlps_spacy_tokenizer(monkeypatch):
    # AllenNLP's tokenizer around a blank pipeline: its own conversion from spaCy's tokens.
    monkeypatch.setattr(
        "allennlp.data.tokenizers.spacy_tokenizer.get_spacy_model", lambda *_: spacy.blank("en")
    )
    reference = SpacyTokenizer(start_tokens=["<s>", "<t>"], end_tokens=["</t>", "</s>"])
    ours = SpacyBlankTokenizer(start_tokens=["<s>", "<t>"], end_tokens=["</t>", "</s>"])
    for text in TEXTS:
        expected = reference.tokenize(text)
        tokens = ours.tokenize(text)
        assert words(tokens) == words(expected)
        assert [token.idx for token in tokens] == [token.idx for token in expected]
        assert [token.idx_end for token in tokens] == [token.idx_end for token in expected]


def test_registered_and_written_back_as_parameters():
    parameters = {
        "type": "spacy_blank",
        "language": "de",
        "start_tokens": ["a", "b"],
    }
    tokenizer = Tokenizer.from_params(Params(parameters))
    assert isinstance(tokenizer, SpacyBlankTokenizer)
    again = Tokenizer.from_params(Params(tokenizer._to_params()))
    assert words(again.tokenize("z.B. Haustür")) == ["a", "b", "z.B.", "Haustür"]


def test_longer_words_are_cut():
    text = f" {'a' * 600}  klmn {'b' * 257} {'(' * 256}o) \n"
    tokens = SpacyBlankTokenizer().tokenize(text)
    pieces = ["a" * 256, "a" * 256, "a" * 88, "klmn", "b" * 256, "b"]
    assert words(tokens) == [*pieces, *"(" * 256, "o", ")"]
    assert [text[token.idx : token.idx_end] for token in tokens] == words(tokens)


def test_spacy_gets_no_longer_words_than_the_limit(monkeypatch):
    tokenizer = SpacyBlankTokenizer()
    rules = "allennlp_sentmatch.data.tokenizers.spacy_blank_tokenizer._rules"
    split = spacy.blank("en").tokenizer
    pieces = []

    def record(text):
        pieces.append(text)
        return split(text)

    record.vocab = split.vocab
    monkeypatch.setattr(rules, lambda language: record)
    assert len(tokenizer.tokenize("(" * 20_000 + " a")) == 20_001
    assert max(len(word) for piece in pieces for word in piece.split()) == 256


def new_words(number):
    return " ".join(f"{number}is{i}n't" for i in range(20))


def test_words_do_not_stay_in_memory(monkeypatch):
    texts = [*TEXTS, *map(new_words, range(100))]
    expected = [SpacyBlankTokenizer().tokenize(text) for text in texts]
    monkeypatch.setattr(spacy_blank_tokenizer, "MAX_STRINGS", 2000)
    sizes = []
    for text, tokens in zip(texts, expected):
        assert SpacyBlankTokenizer().tokenize(text) == tokens
        sizes.append(len(spacy_blank_tokenizer._rules("en").vocab.strings))
    assert max(sizes) <= 2000
    assert len([size for size, before in zip(sizes[1:], sizes) if size < before]) > 1


def test_impossible_settings_and_text():
    for language in ("en_core_web_sm", "klingon"):
        with pytest.raises(ConfigurationError, match=f"language='{language}'.*such as 'en'"):
            SpacyBlankTokenizer(language)
    with pytest.raises(ConfigurationError, match=r"text to tokenize has the lone surr.*\\ud800"):
        SpacyBlankTokenizer().tokenize("a \ud800")


@pytest.mark.parametrize("failure", [ConnectionError, lambda: sys.exit(1), lambda: None])
def test_the_error_names_the_tokenizer_that_needs_no_model(monkeypatch, failure):
    def download(name):
        if isinstance(failure, type):
            raise failure("no connection")
        failure()

    monkeypatch.setattr("allennlp.common.util.spacy_download", download)
    message = "^the tokenizer 'spacy' needs spaCy's model 'en_none_sm', .*; use .* 'spacy_blank'"
    with pytest.raises(ConfigurationError, match=message):
        Tokenizer.from_params(Params({"type": "spacy", "language": "en_none_sm"}))
