"""Sentences are recombined with words of the same kind."""

import random

import pytest

from scripts.encoder.recombine_sentences import Recombination

pytestmark = pytest.mark.slow  # the program made the package's encoder once

SENTENCES = [
    "A man is riding a horse in the rain.",
    "Two dogs are chasing a ball on the beach, near the sea.",
    "How do I cook rice in a pot?",
    "Where can I buy some new shoes for 20 dollars?",
]
EXCHANGED = "Where can I buy some new shoes in a pot?"
INDEX = {
    "noun": "man dog ball horse beach sea rain pot shoe dollar zebra ride",
    "verb": "ride chase cook buy",
    "adj": "quiet",
    "adv": "quietly",
}


@pytest.fixture
def recombination(tmp_path):
    for part, words in INDEX.items():
        lines = "".join(f"{word} x 1\n" for word in words.split())
        (tmp_path / f"index.{part}").write_text(f"  1 a licence\n{lines}some_phrase x 1\n")
    return Recombination(SENTENCES, tmp_path, random.Random(0))


def test_exchanged_words_are_of_the_same_kind(recombination):
    made = {recombination.exchange() for _ in range(300)}
    assert any("zebra" in sentence for sentence in made)  # only from WordNet
    assert not made <= set(SENTENCES)
    originals = {len(sentence.split()): sentence.split() for sentence in SENTENCES}
    assert len(originals) == len(SENTENCES)
    for sentence in made:
        original = originals[len(sentence.split())]
        for new, old in zip(sentence.lower().split(), original):
            new, old = (word.strip(".,?") for word in (new, old.lower()))
            assert new == old or recombination.kind_of(new) == recombination.kind_of(old)


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("predicate", {SENTENCES[0], SENTENCES[1]}),
        ("question", {*SENTENCES[2:], "How do I cook rice for 20 dollars?", EXCHANGED}),
    ],
)
def test_all_that_is_made_of_few_sentences(recombination, way, expected):
    assert {getattr(recombination, way)() for _ in range(200)} == expected
