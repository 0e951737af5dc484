"""Splitting words, compared with AllenNLP's tokenizers and with spaCy's."""

import json
import random
import re
import time
from functools import cache
from typing import Any

import numpy
import pytest
from allennlp.data.tokenizers import LettersDigitsTokenizer, WhitespaceTokenizer
from spacy.attrs import ORTH
from spacy.tokenizer import Tokenizer
from spacy.vocab import Vocab

from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer
from allennlp_sentmatch.standalone.splitters import (
    LettersDigitsSplitter,
    RuleSplitter,
    WhitespaceSplitter,
    splitter_from,
)
from tests.fuzzing import check_cases, texts

SLOW = pytest.mark.slow
every_tokenizer = pytest.mark.parametrize(
    "name",
    [
        "whitespace",
        "letters_digits",
        "en",
        "de",
        "tr",  # has a pattern of whole words
        pytest.param("fr", marks=SLOW),  # has a pattern of 1.5 million characters
        "en, 5 characters",
    ],
)


@cache
def tokenizer_and_splitter(name: str) -> tuple[Any, Any]:
    """Return AllenNLP's tokenizer and the splitter that should give the same words."""
    if name == "whitespace":
        return WhitespaceTokenizer(), WhitespaceSplitter()
    if name == "letters_digits":
        return LettersDigitsTokenizer(), LettersDigitsSplitter()
    language, _, is_short = name.partition(", ")
    tokenizer = SpacyBlankTokenizer(language)
    splitter = tokenizer.splitter()
    if is_short:
        tokenizer._piece_of_a_word = re.compile(r"\S{5}")
        splitter = splitter_from({**splitter.settings(), "max_word_length": 5})
    return tokenizer, splitter


SENTENCES = [
    "Isn't it the U.S.'s $5-a-day (or 10km) plan?! I can't, he'd've said :) e.g. at 8 a.m...",
    "See https://a.b/?c=1 or mail a@b.de, don't 'quote' ``this'' --- it's well-known/used.",
    "Saat 12:30'da 1. gün, 5.' ve 'a.",
    "Hello : ))) 8 )-: x :) :-) :) ) (: O.o o.O",
    "tab\tand\nline \n\n two  spaces ",
    "",
    "   ",
]


RULES = RuleSplitter().settings()


def words_of(tokenizer, text):
    return [token.text for token in tokenizer.tokenize(text)]


@every_tokenizer
@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences(name, sentence):
    tokenizer, splitter = tokenizer_and_splitter(name)
    assert splitter.words(sentence) == words_of(tokenizer, sentence)


@every_tokenizer
def test_any_text(name):
    tokenizer, splitter = tokenizer_and_splitter(name)

    def check(text):
        if not any("\ud800" <= character <= "\udfff" for character in text):
            assert splitter.words(text) == words_of(tokenizer, text)

    check_cases(check, texts, 100)


@pytest.mark.parametrize("name", ["en", "de"])
def test_special_cases_beside_each_other_and_beside_affixes(name):
    tokenizer, splitter = tokenizer_and_splitter(name)
    generator = random.Random(0)
    parts = [*splitter.settings()["special_cases"], *"()-:!?\"'", "...", "'s", "10", "km", "word"]
    for _ in range(1500):
        text = "".join(
            generator.choice(parts) + generator.choice(["", "", " ", " \n "])
            for _ in range(generator.randint(1, 6))
        )
        assert splitter.words(text) == words_of(tokenizer, text)


def test_settings_are_json_for_a_length_of_numpy():
    settings = RuleSplitter(max_word_length=numpy.int64(9)).settings()
    assert json.loads(json.dumps(settings))["max_word_length"] == 9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, "must be an object of type whitespace or letters_digits or rules; got None"),
        ({"type": ["rules"]}, "must be an object of type"),
        ({"type": "whitespace", "prefix": "a"}, "a superfluous setting 'prefix'"),
        ({"type": "rules", "prefix": "a"}, "there is no setting 'infix'"),
        ({**RULES, "prefix": "("}, "prefix is not a regular expression"),
        ({**RULES, "infix": 3}, "infix must be a regular expression"),
        ({**RULES, "max_word_length": 0}, "max_word_length must be an integer from 1 to 65536"),
        ({**RULES, "max_word_length": "9"}, "max_word_length must be an integer from 1 to 65536"),
        ({**RULES, "special_cases": ["a"]}, "special_cases must be an object"),
        *(
            ({**RULES, "special_cases": cases}, "must have a list of words")
            for cases in ({"ab": ["a"]}, {"ab": ["a", "c"]}, {"ab": ["a", "", "b"]}, {"": []})
        ),
        ({**RULES, "rejoined": {"ab": "ab"}}, "rejoined: 'ab' must have"),
        ({**RULES, "rejoined": {"a" * 33: ["a"] * 33}}, "may have 32 words, not 33"),
        ({**RULES, "rejoined": {"a": ["a"], "c": None}}, "rejoined: 'c' must have"),
    ],
)
def test_wrong_settings(wrong, message):
    with pytest.raises(ValueError, match=message):
        splitter_from(wrong)


def test_many_special_cases_take_little_time():
    """These took minutes, since each start was compared with each case."""
    cases = {"a" * length: ["a"] * length for length in range(1, 33)}
    cases |= {f"a{number}": ["a", str(number)] for number in range(20_000)}
    splitter = RuleSplitter("^a", rejoined=cases, max_word_length=1 << 16)
    start = time.process_time()
    assert splitter.words("a" * 9000) == ["a"] * 9000
    assert time.process_time() - start < 10


def test_a_prefix_goes_before_a_suffix():
    splitter = RuleSplitter(prefix="^a+", suffix="a+$", infix="-")
    assert splitter.words("aaa") == ["aaa"]
    assert splitter.words("aab-caa") == ["aa", "b", "-", "c", "aa"]


@pytest.mark.parametrize("space", [" ", "  ", "\n", " \n", "\n "])
def test_a_special_case_over_a_space_keeps_others_apart(space):
    """But none includes other whitespace, as in spaCy's tokenizer with the same rules."""
    prefix = "^[:)]"
    suffix = "[:)]$"
    cases = (":)", "):")
    tokenizer = Tokenizer(
        Vocab(),
        rules={case: [{ORTH: case}] for case in cases},
        prefix_search=re.compile(prefix).search,
        suffix_search=re.compile(suffix).search,
    )
    splitter = RuleSplitter(
        prefix,
        suffix,
        special_cases={case: [case] for case in cases},
        rejoined={case: list(case) for case in cases},
    )
    apart = space == " "
    assert splitter.words(f"a:{space}):b") == ["a", ":", *([")", ":"] if apart else ["):"]), "b"]
    for text in (f"a:{space}):b", f"{space}a{space}b:{space}):", f"a:{space}):{space}):b:)"):
        expected = [token.text for token in tokenizer(text) if not token.text.isspace()]
        assert splitter.words(text) == expected
