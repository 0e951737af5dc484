"""The features of two sentences' words, counted by hand."""

from math import log

import numpy
import pytest

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.corpora import word_comparison
from allennlp_sentmatch.corpora.word_comparison import (
    compare_words,
    decisive_words,
    num_features,
    word_features,
)
from tests.estimators.test_estimator_folder import OtherEncoder
from tests.estimators.tiny_encoder import tiny_encoder


@pytest.mark.parametrize(
    ("first", "second", "shared", "negations", "numbers"),
    [
        ("A man sleeps.", "a MAN, sleeps", [1, 1, 1, 1], [0, 0, 0], 0),
        ("a b c", "c a b d", [1, 3 / 4, 1 / 2, 1 / 3], [0, 0, 0], 0),
        ("The dog bites the man", "the man bites the dog", [1, 1, 3 / 4, 3 / 4], [0, 0, 1], 0),
        ("he isn't here", "he is not here", [1, 1, 1, 1], [1, 1, 0], 0),
        ("he isnt here", "he is here", [3 / 4, 1, 1 / 3, 1 / 2], [1, 0, 1], 0),
        ("Nobody isn\u2019t not here", "here", [1 / 4, 1, 0, 0], [2, 0, 2], 0),
        ("two men", "2 men", [1, 1, 1, 1], [0, 0, 0], 0),
        ("Two men", "1,000 men", [1 / 2, 1 / 2, 0, 0], [0, 0, 0], 1),
        ("can't 3.5", "3", [0, 0, 0, 0], [1, 0, 1], 1),
        ("thirteen men", "13 men", [1, 1, 1, 1], [0, 0, 0], 0),
        ("thirteen men", "fourteen men", [1 / 2, 1 / 2, 0, 0], [0, 0, 0], 1),
        ("up there", "down there", [1 / 2, 1 / 2, 0, 0], [0, 0, 1], 0),
        ("learn C", "learn C#", [1 / 2, 1 / 2, 0, 0], [0, 0, 0], 1),
        ("...", "?", [0, 0, 0, 0], [0, 0, 0], 0),
        ("the caf\u00e9", "the cafe\u0301", [1, 1, 1, 1], [0, 0, 0], 0),
    ],
)
def test_features(first, second, shared, negations, numbers):
    features = compare_words(first, second)
    assert features[:8] == pytest.approx([*shared, *negations, numbers])


@pytest.mark.parametrize(
    ("text", "negations", "numbers", "signs"),
    [
        ("It never fails and lacks nothing", 4, (), ()),
        ("Nobody pays, unable", 2, (), ()),
        ("They seldom come, rarely pay and refuse all except two", 4, ("2",), ()),
        ("Is it so or not? Why or why not?", 0, (), ()),
        ("Tell me whether or not it is so.", 0, (), ()),
        ("Reply or not be considered.", 1, (), ()),
        ("The first of 2 cups at 5 p.m.", 0, ("2 cup", "5 pm"), ()),
        ("C++ or F#, grade A+, Google+, 18+", 0, ("18+",), ("c++", "f#", "a+", "google+")),
        ("vitamin C, plan b, a type", 0, (), ("c", "b")),
        ("Hardly, barely and scarcely w/o it", 4, (), ()),
        ("section 4(b), apartment C, box a, size L", 0, ("4",), ("b", "c", "l")),
    ],
)
def test_decisive_words(text, negations, numbers, signs):
    found = decisive_words(text)
    assert found.negations == negations
    assert found.numbers == numbers
    assert found.signs == signs


FIRST = ["a cat sleeps", "a man"]


SECOND = ["a man runs", "a man sees a dog"]


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder(tiny_encoder())


@pytest.fixture(scope="module")
def compared():
    return [compare_words(first, second) for first, second in zip(FIRST, SECOND)]


def test_coverage_follows_if_the_encoder_has_vectors_of_words(encoder, compared):
    assert num_features(encoder) == 16
    features = word_features(FIRST, SECOND, "ordered", encoder)
    numpy.testing.assert_allclose(features[:, :12], compared)
    covered = encoder.network.word_coverage(FIRST, SECOND)
    numpy.testing.assert_array_equal(features[:, 12:], covered)


def test_other_encoders_have_no_coverage(compared):
    other = SentenceEncoder(OtherEncoder())
    assert num_features(other) == 12
    numpy.testing.assert_allclose(word_features(FIRST, SECOND, "ordered", other), compared)


def test_no_words_are_compared_without_an_order(encoder):
    assert word_features(FIRST, SECOND, None, encoder) is None


def test_unordered_features_do_not_see_the_order(encoder):
    ordered = word_features(FIRST, SECOND, "ordered", encoder)
    unordered = word_features(FIRST, SECOND, "unordered", encoder)
    exchanged = word_features(SECOND, FIRST, "unordered", encoder)
    numpy.testing.assert_allclose(unordered, exchanged, atol=1e-6)
    for columns in (slice(12, 14), slice(14, 16)):
        of_both_sides = numpy.sort(ordered[:, columns])
        numpy.testing.assert_array_equal(unordered[:, columns], of_both_sides)


def test_lengths():
    assert compare_words("a a b", "I can't!")[8:10] == pytest.approx([log(4), log(4)])


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("The dog is not here", "A HERE and the DOG", [1 / 2, 1]),
        ("It is on the table", "Table, chairs", [1, 1 / 2]),
        ("Where is it?", "A dog", [0, 0]),
        ("Two men", "2 dogs", [1 / 2, 1 / 2]),
    ],
)
def test_content_words(first, second, shared):
    assert compare_words(first, second)[10:] == pytest.approx(shared)
    assert compare_words(second, first, False)[10:] == pytest.approx(sorted(shared))


def test_a_question_is_read_once_for_its_answers(monkeypatch):
    read = []
    plain = word_comparison.words_of
    monkeypatch.setattr(word_comparison, "words_of", lambda text: read.append(text) or plain(text))
    question = "Which of these was never read before?"
    answers = [f"answer {number}" for number in range(200)]
    word_features([question] * 200, answers, "ordered", SentenceEncoder(OtherEncoder()))
    assert read.count(question) == 1
    assert len(read) == 201
