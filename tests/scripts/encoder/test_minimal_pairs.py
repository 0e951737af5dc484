"""Exchanged words give sentences of another meaning, or of the same one."""

import random

import pytest

from scripts.encoder.minimal_pairs import Substitution, plural, singular

pytestmark = pytest.mark.slow  # the program made the package's encoder once

SENTENCES = ["pony horsie zebra idea thought open closed shut quiet silent"] * 4


@pytest.fixture
def substitution(wordnet):
    return Substitution(SENTENCES, wordnet, random.Random(0))


def test_words_that_stand_for_others(substitution):
    wordnet = substitution.wordnet
    assert wordnet.kinds == {"pony": ["zebra"], "horsie": ["zebra"], "zebra": ["pony"]}
    assert wordnet.antonyms["open"] == ["closed"]
    assert wordnet.antonyms["shut"] == []  # only the antonym of "closed"
    assert wordnet.synonyms["thought"] == ["idea"]
    assert "animal" not in wordnet.part  # no sentence contains it


@pytest.mark.parametrize(
    ("sentence", "way", "expected"),
    [
        ("The door is open.", "negation", {"The door is not open.", "The door isn't open."}),
        ("The door isn't open.", "negation", {"The door is open."}),
        ("He can not swim.", "negation", {"He can swim."}),
        ("There are no dogs.", "negation", {"There are some dogs."}),
        ("I like it.", "negation", {"I do not like it.", "I don't like it."}),
        ("Tom wants it.", "negation", {"Tom does not want it."}),
        ("Where is the dog?", "negation", None),
        ("Those who are here won.", "negation", None),
        ("The door is open.", "antonym", {"The door is closed."}),
        ("A pony eats.", "kind", {"A zebra eats."}),
        ("Ponies eat.", "kind", {"Zebras eat."}),
        ("An orange car.", "kind", None),
        ("He saw 7.", "number", {f"He saw {n}." for n in (4, 6, 8, 9, 12, 17)}),
        ("A man is chasing a dog in a park.", "roles", {"A dog is chasing a man in a park."}),
        ("Two men are chasing a dog.", "roles", None),
        ("Tom is calling the girl.", "roles", {"The girl is calling Tom."}),
    ],
)
def test_other_meanings(substitution, sentence, way, expected):
    made = {substitution.negatives(sentence).get(way) for _ in range(60)}
    if sentence.startswith("An orange"):
        assert all(text is None or text.startswith(("A ", "An ")) for text in made)
        assert "A blue car." in made
    else:
        assert made == (expected or {None})


@pytest.mark.parametrize(
    ("sentence", "way", "expected"),
    [
        ("The pony is quiet.", "synonym", {"The horsie is quiet.", "The pony is silent."}),
        ("The door is open.", "double negation", {"The door is not closed."}),
        ("A man is holding two dogs.", "passive", {"Two dogs are being held by a man."}),
        ("A man is carrying a dog.", "passive", {"A dog is being carried by a man."}),
        ("A man is running fast.", "existence", {"There is a man running fast."}),
        ("There are two men running fast.", "existence", {"Two men are running fast."}),
        ("It's late.", "contraction", {"It is late."}),
        ("It is late.", "contraction", {"It's late."}),
        ("It rains.", "contraction", {None}),
        ("Why don't you go?", "contraction", {None}),
        ("She's never fallen in love.", "contraction", {None}),
    ],
)
def test_same_meanings(substitution, sentence, way, expected):
    assert {substitution.positives(sentence).get(way) for _ in range(40)} == expected


def test_what_stays_the_same_is_not_made(substitution):
    for sentence in ("", "...", "\u2082 \u00b2 x", "0"):
        assert sentence not in substitution.negatives(sentence).values()
        assert sentence not in substitution.positives(sentence).values()


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("dog", "dogs"),
        ("box", "boxes"),
        ("lady", "ladies"),
        ("boy", "boys"),
    ],
)
def test_plurals(one, many):
    assert plural(one) == many
    assert singular(many) == one
    assert singular("glass") is None
