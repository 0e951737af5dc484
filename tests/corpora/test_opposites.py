"""Words that exclude each other, judged by a reader of the texts."""

import numpy
import pytest

from allennlp_sentmatch.corpora.opposites import OppositeWords, poles_of
from allennlp_sentmatch.corpora.plain_words import words_of


def exclude(*texts):
    """Return whether each text excludes each of the others."""
    words = OppositeWords([poles_of(words_of(text)) for text in texts])
    first, second = (places.ravel() for places in numpy.indices([len(texts), len(texts)]))
    return words.exclude(first, second).reshape(len(texts), -1)


@pytest.mark.parametrize(
    "template",
    [
        "The hotel is {near|far from} the station.",
        "He waits {in front of|behind} the house.",
        "The prices go {up|down}.",
        "Take it {before|after} meals.",
        "We play {inside|outside}.",
        "It {always|sometimes|never} rains.",
        "{All|Some} dogs bark.",
        "He has {few|a few|many} friends.",
        "The answer is {right|wrong}.",
        "The train is {fast|slow}.",
        "It costs {more|less} than that.",
        "Turn {left|right}.",
        "The lamp is {above|below} the table.",
        "It closes on {Monday|Tuesday|Sunday}.",
        "It closes on {Sat|Sun}.",
        "It closes in {March|May|June}.",
        "It closes on 5 {May|March}.",
        "We {open|close} at noon.",
        "Smoking is {permitted|prohibited} here.",
        "Send it {to|from} my account.",
        "The result is {accurate|inaccurate}.",
        "The tenant {may|shall} pay.",
        "It is open {until|from} 5 pm.",
        "It happened {5 days ago|in 5 days}.",
        "Please {enable|disable} it.",
        "The {inbound|outbound} flight is full.",
        "The switch is {on|off}.",
        "It is the {first|last} one.",
        "I came {early|late}.",
        "He arrives {today|tomorrow}.",
        "It happens every {day|week}.",
        "It leaves at ten {past|to} five.",
        "It needs {up to|at least} 5 men.",
        "It needs {over|up to} 5 men.",
        "It needs {under|at least} 5 men.",
        "The prices {increased|fell}.",
        "It needs 5 {or more|or less} of them.",
    ],
)
def test_one_word_for_its_opposite(template):
    before, rest = template.split("{")
    words, after = rest.split("}")
    texts = [before + word + after for word in words.split("|")]
    found = exclude(*texts)
    assert (found == ~numpy.eye(len(texts), dtype=bool)).all()
    added = exclude(*(f"{text} In the morning, all is well there." for text in texts))
    assert (added == found).all()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from Monday to Friday", "from Friday to Monday"),
        ("He runs up and up.", "He runs up and down."),
    ],
)
def test_the_order_and_the_number_of_the_words(first, second):
    assert exclude(first, second)[0, 1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It rains.", "It always rains."),
        ("He goes up.", "He goes up and down."),
        ("It is large.", "It is big."),
        ("a quick answer", "a fast answer"),
        ("The man sat in the sun.", "The man sat."),
        ("You may pay in June.", "You can pay in June."),
        ("public or private", "private or public"),
        ("from Paris to London", "to London from Paris"),
        ("They march in May.", "They walk in May."),
        ("", "up"),
    ],
)
def test_an_added_word_excludes_nothing(first, second):
    assert not exclude(first, second).any()


def test_no_text_has_too_many_words():
    assert exclude("up " * 1000, "down " * 1000)[0, 1]
