"""Byte pair encoding merges as Sennrich et al. do, and any text comes back from its subwords."""

import json
import random
from collections import Counter

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Tokenizer

from allennlp_sentmatch.data.tokenizers.bpe_tokenizer import JOINER, learn_bpe
from tests.conftest import REPOSITORY

GERMAN = REPOSITORY / "fixtures/own_data/translation.de"
TEXTS = [("low lower lowest low low", "en"), ("new newer newest new", "en")]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "bpe.json"
    path.write_text(json.dumps(learn_bpe(TEXTS, 15)), encoding="utf-8")
    return path


def make(file, **settings):
    return Tokenizer.from_params(Params({"type": "bpe", "file": str(file), **settings}))


def test_merges_are_those_of_sennrich_et_al():
    """Their algorithm, restated: repeatedly merge the most frequent pair of symbols."""
    words = {}
    for text, _ in TEXTS:
        for word in text.split():
            symbols = (*word[:-1], word[-1] + "</w>")
            words[symbols] = words.get(symbols, 0) + 1
    encoding = learn_bpe(TEXTS, 15)
    for merge in encoding["merges"]:
        pairs = {}
        for symbols, number in words.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] = pairs.get(pair, 0) + number
        assert pairs[tuple(merge)] == max(pairs.values())
        merged = {}
        for symbols, number in words.items():
            out = []
            i = 0
            while i < len(symbols):
                width = 2 if symbols[i : i + 2] == tuple(merge) else 1
                out.append("".join(symbols[i : i + width]))
                i += width
            merged[tuple(out)] = merged.get(tuple(out), 0) + number
        words = merged


# Moses splits French elisions and English contractions. The mark shows missing spaces.
def merges_by_hand(counts, num_merges):
    """Sennrich et al.'s algorithm, one merge at a time; of equal counts, the lowest numbers."""
    split = {word: [*word[:-1], f"{word[-1]}</w>"] for word in counts}
    characters = {*"".join(counts), *(symbols[-1] for symbols in split.values())}
    numbers = {symbol: number for number, symbol in enumerate(sorted(characters))}
    merges = []
    while len(merges) < num_merges:
        pairs = Counter()
        for word, symbols in split.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        first, second = min(pairs, key=lambda p: (-pairs[p], numbers[p[0]], numbers[p[1]]))
        merges.append([first, second])
        numbers.setdefault(first + second, len(numbers))
        for word, symbols in split.items():
            split[word] = _merged(symbols, first, second)
    return merges


def _merged(symbols, first, second):
    merged = []
    for symbol in symbols:
        if merged and merged[-1] == first and symbol == second:
            merged[-1] = first + second + "|"  # which is not merged again
        else:
            merged.append(symbol)
    return [symbol.rstrip("|") for symbol in merged]


@pytest.mark.parametrize("seed", range(4))
def test_ties_are_decided_by_the_symbols(seed):
    """Most counts are equal. The library's numbers differ from process to process."""
    generator = random.Random(seed)
    words = ["".join(generator.choices("abcdefgh", k=generator.randint(2, 5))) for _ in range(60)]
    counts = Counter(words)
    learned = learn_bpe([(" ".join(words), "en")], 80)
    assert learned["merges"] == merges_by_hand({**counts, JOINER: 1}, 80)


def test_the_order_of_the_texts_does_not_matter():
    texts = [(line, "de") for line in GERMAN.read_text("utf-8").splitlines()]
    assert learn_bpe(texts, 100, lowercase=True) == learn_bpe(texts[::-1], 100, lowercase=True)


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("fr", "l'low.", ["l'￭", "low", "￭."]),
        ("en", "l'low.", ["l", "￭'low", "￭."]),
        ("en", "low's newest.", ["low", "￭'s", "newest", "￭."]),
        ("de", "low's newest.", ["low", "￭'￭", "s", "newest", "￭."]),
    ],
)
def test_words_are_those_of_the_language(tmp_path, language, text, words):
    path = tmp_path / "bpe.json"
    path.write_text(json.dumps(learn_bpe([*TEXTS, ("l ' s .", "fr")], 40)), encoding="utf-8")
    tokens = [token.text for token in make(path, language=language).tokenize(text)]
    assert "".join(tokens).replace("</w>", " ").split() == words


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fr", "l'low 's"),
        ("en", "l' low's"),
        ("de", "l' low 's"),
    ],
)
def test_an_encoding_without_marks_joins_words_as_in_the_language(file, language, text):
    """An encoding of version 0.1.0, whose archives do not change."""
    encoding = json.loads(file.read_text(encoding="utf-8"))
    del encoding["joiner"]
    file.write_text(json.dumps(encoding), encoding="utf-8")
    assert [token.text for token in make(file).tokenize("low,")] == ["low</w>", "@@UNKNOWN@@"]
    subwords = ["l'</w>", "lo", "w</w>", "'s</w>"]
    assert make(file, language=language).detokenize(subwords) == text


MARKS = [
    "It’s a small town, and that’s why I don’t like it.",
    '“We can’t stay,” she said. “It’s late.” \'Tis "so".',
    "Wait… what? a – b—c (d) [e/f] <g> C++ & #1 @h http://i.j/k?l=m&n=o",
    "5€ 20°C 5 € $7 8% un po' di l'amitié d'aujourd'hui e-mail's x² ¿Qué?",
    "«Да», сказал он. « Oui ! » „Nein“, ‚ja‘ 🙂🙂 हिन्दी में।",
    "狐狸住在老磨坊下面。它说：“你好”",
]


@pytest.mark.parametrize("language", ["en", "de", "fr", "it", "ru", "zh"])
def test_any_text_comes_back_from_its_subwords(file, language):
    file.write_text(json.dumps(learn_bpe([(text, language) for text in MARKS], 60)))
    tokenizer = make(file, language=language)
    for text in MARKS:
        assert tokenizer.detokenize([t.text for t in tokenizer.tokenize(f" {text}\t")]) == text
    # The mark itself, and an encoding of texts without marks.
    assert tokenizer.detokenize([t.text for t in tokenizer.tokenize("C￭C ￭")]) == "C C"
    file.write_text(json.dumps(learn_bpe([("a ( b )", language)])))
    tokenizer = make(file)
    assert tokenizer.detokenize([t.text for t in tokenizer.tokenize("a(b)")]) == "a(b)"


def test_sizes():
    encoding = learn_bpe(TEXTS, vocabulary_size=18)
    assert len(encoding["alphabet"]) + len(encoding["merges"]) == 18
    for num_merges in (1, 7):
        encoding = learn_bpe(TEXTS, num_merges)
        assert len(encoding["merges"]) == num_merges
        # The characters of the texts, with additional ones for the ends of words.
        characters = sorted([*"lowerstn", "w</w>", "r</w>", "t</w>", "￭", "￭</w>"])
        assert encoding["alphabet"] == characters
    assert learn_bpe(TEXTS, 10**30) == learn_bpe(TEXTS, 1000)  # more than possible


@pytest.mark.parametrize(
    ("texts", "settings", "message"),
    [
        ([("", "en"), (" \n", "en")], {}, "no words to learn an encoding from"),
        ([("a", "en"), ("b \ud800", "en")], {}, "text 2 has the lone surrogate"),
        (TEXTS, {"num_merges": 0}, "merges must be an integer of at least 1; got 0"),
        (
            TEXTS,
            {"vocabulary_size": -5},
            "vocabulary size must be an integer of at least 1, or None; got -5",
        ),
    ],
)
def test_texts_and_sizes_that_are_refused(texts, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        learn_bpe(texts, **settings)


def test_unknown_characters_and_lower_case(file):
    tokens = [token.text for token in make(file).tokenize("low 漢 low")]
    assert tokens == ["low</w>", "@@UNKNOWN@@", "low</w>"]
    assert make(file).detokenize(tokens) == "low @@UNKNOWN@@ low"
    tokenizer = make(file, lowercase=True)
    assert [token.text for token in tokenizer.tokenize("LOW")] == ["low</w>"]
    assert tokenizer.tokenize("  ") == []


def test_an_archive_reads_its_own_copy(file, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    make(file, serialization_dir=str(folder))
    file.unlink()
    tokens = make(file, serialization_dir=str(folder)).tokenize("lowest")
    assert "".join(token.text for token in tokens) == "lowest</w>"
    with pytest.raises(ConfigurationError, match="include_in_archive"):
        make(file, serialization_dir=str(tmp_path / "other"))


@pytest.mark.parametrize(
    "content", ["[]", "{", '{"alphabet": ["a"]}', '{"alphabet": ["a"], "merges": [["a", "b"]]}']
)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=r"other\.json does not hold a byte pair encoding"):
        make(path)
