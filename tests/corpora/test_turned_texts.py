"""Texts that exclude each other by the forms or the order of their words, judged by a reader."""

import numpy
import pytest

from allennlp_sentmatch.corpora.turned_texts import TurnedTexts
from allennlp_sentmatch.corpora.word_comparison import decisive_words


def exclude(*texts):
    """Return whether the first text excludes each of the others, and they exclude it."""
    read = [decisive_words(text) for text in texts]
    turned = TurnedTexts([one.words for one in read], [one.poles for one in read])
    others = numpy.arange(1, len(texts))
    found = turned.exclude(numpy.zeros_like(others), others)
    numpy.testing.assert_array_equal(turned.exclude(others, numpy.zeros_like(others)), found)
    return found.tolist()


@pytest.mark.parametrize(
    ("word", "opposite"),
    [
        ("tested", "untested"), ("accurate", "inaccurate"), ("legal", "illegal"),
        ("regular", "irregular"), ("polite", "impolite"), ("connected", "disconnected"),
        ("refundable", "nonrefundable"), ("compress", "decompress"),
        ("clockwise", "counterclockwise"), ("virus", "antivirus"), ("overpriced", "underpriced"),
        ("harmful", "harmless"), ("interviewer", "interviewee"), ("near", "far"),
    ],
)  # fmt: skip
def test_a_word_for_its_opposite(word, opposite):
    template = "They said that the {} one was there in the morning."
    texts = [template.format(one) for one in (word, opposite, f"{word} and {opposite}", "red")]
    assert exclude(*texts) == [True, False, False]
    assert exclude(f"the {word} or {word}", f"the {word} or {opposite}") == [True]


@pytest.mark.parametrize(
    ("word", "other"),
    [("under", "over"), ("possible", "impossible"), ("able", "unable"), ("form", "inform us of"),
     ("the", "three"), ("to", "into")],
)  # fmt: skip
def test_forms_that_are_no_opposites(word, other):
    """The negations of "impossible" and "unable" are counted."""
    assert exclude(f"a {word} b", f"a {other} b") == [word in ("under", "form")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Germany beat Brazil 2-1.", "Brazil beat Germany 2-1."),
        ("Book a flight from Paris to London.", "Book a flight from London to Paris."),
        ("Fly from New York to Los Angeles today", "Fly from Los Angeles to New York today"),
        ("How do I convert kg to lbs?", "How do I convert lbs to kg?"),
        ("Is tea better than coffee?", "Is coffee better than tea?"),
        ("The red car hit the blue car.", "The blue car hit the red car."),
        ("John gave Mary a book", "Mary gave John a book"),
        ("up, then down", "down, then up"),
    ],
)
def test_phrases_that_have_exchanged_their_places(first, second):
    assert exclude(first, second, first.upper()) == [True, False]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Is tea or coffee better?", "Is coffee or tea better?"),
        ("red, blue and green", "green, blue and red"),
        ("Python vs Java", "Java vs Python"),
        ("Paris is the capital.", "The capital is Paris."),
        ("What is the distance from Rome to Paris?", "What is the distance from Paris to Rome?"),
        ("In 2010 he moved to Rome.", "He moved to Rome in 2010."),
        ("If it rains, I stay home.", "I stay home if it rains."),
        ("He quickly ran home.", "He ran home quickly."),
        ("What is machine learning?", "Machine learning is what?"),
        ("How do I pay online for it?", "How do I pay for it online?"),
        ("It is here.", "Is it here?"),
        ("the the cat", "the cat the"),
    ],
)
def test_another_order_of_the_same_meaning(first, second):
    assert exclude(first, second) == [False]
