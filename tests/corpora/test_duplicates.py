"""Duplicates are those of a comparison of all pairs; numbers and negations tell texts apart."""

import random
import re
from functools import partial
from types import SimpleNamespace

import numpy
import pytest

from allennlp_sentmatch import PairClassifier, SentenceEncoder
from allennlp_sentmatch.corpora import duplicates, near_texts
from allennlp_sentmatch.corpora.deduplication import Duplicate
from allennlp_sentmatch.corpora.duplicates import find_duplicates
from tests.conftest import REPOSITORY
from tests.estimators.tiny_encoder import tiny_encoder

LETTERS = [chr(97 + i) for i in range(26)]
NAMES = [f"text q{LETTERS[i // 26 % 26]}{LETTERS[i % 26]} {'x' * (i // 676)}" for i in range(1500)]


TEXT = "I have 3 cards."


class Table:
    """Encodes texts as vectors around a few fixed centers, and as zeros."""

    def __init__(self, size=24, num_centers=30, spread=0.45):
        generator = numpy.random.default_rng(0)
        centers = generator.normal(size=(num_centers, size))
        vectors = centers[generator.integers(num_centers, size=len(NAMES))]
        vectors += spread * generator.normal(size=vectors.shape)
        vectors[::97] = 0
        vectors[1::50] = vectors[2::50]
        self.vectors = {"a": vectors[0], **dict(zip(NAMES, vectors.astype("f4")))}

    def encode(self, sentences):
        return numpy.array([self.vectors[sentence] for sentence in sentences])


def cosine(u, v):
    lengths = numpy.linalg.norm(u) * numpy.linalg.norm(v)
    return float(u @ v / lengths) if lengths else 0.0


def by_definition(texts, threshold, vectors, against=None):
    """The removed positions with the positions of the kept texts and the scores, pair by pair."""
    kept = [] if against is None else list(enumerate(against))
    removed = []
    reasons = {}
    for position, text in enumerate(texts):
        scores = [
            (1.0 if other == text else cosine(vectors[text], vectors[other]), -place)
            for place, other in kept
        ]
        score, place = reasons.get(text) or max(scores, default=(0, 0))
        if score >= threshold:
            removed.append((position, -place, score))
            reasons[text] = score, place  # also for later equal texts
        elif against is None:
            kept.append((position, text))
    return removed


@pytest.mark.parametrize("threshold", [0.6, 0.9])
@pytest.mark.parametrize("size", [24, 90])
@pytest.mark.parametrize("across", [False, True])
def test_the_result_is_that_of_all_pairs(monkeypatch, threshold, size, across):
    monkeypatch.setattr(duplicates, "BLOCK_SIZE", 7)
    monkeypatch.setattr(duplicates, "ENCODED_TOGETHER", 50)
    monkeypatch.setattr(near_texts, "BLOCK_SIZE", 50)
    monkeypatch.setattr(near_texts, "POOL_SIZE", 13)
    table = Table(size)
    texts = [*NAMES[:300], *NAMES[:300:11]]
    against = [*NAMES[280:400], NAMES[281]] if across else None
    result = find_duplicates(texts, threshold, encoder=table, against=against)
    expected = by_definition(texts, threshold, table.vectors, against)
    found = [(one.position, one.kept_position) for one in result.filtered]
    assert found == [(position, kept) for position, kept, _ in expected]
    assert 20 < len(found) < len(texts) - 2
    scores = [one.score for one in result.filtered]
    numpy.testing.assert_allclose(scores, [score for *_, score in expected], atol=1e-6)
    for one in result.filtered:
        assert one.text == texts[one.position]
        assert one.kept_text == (against or texts)[one.kept_position]
    removed = {one.position for one in result.filtered}
    assert result.selected == [t for i, t in enumerate(texts) if i not in removed]


@pytest.fixture(scope="module")
def shipped():
    return SentenceEncoder()


def fitted(encoder, labels=(0, 1)):
    pairs = [("How do I pay?", "How can I pay?"), ("How do I pay?", "Who pays?")] * 3
    return PairClassifier(encoder).fit(pairs, [labels[1], labels[0]] * 3)


def test_texts_with_one_vector_reach_every_threshold():
    """Their cosine is 1 up to rounding."""
    texts = [name for i in range(1, len(NAMES), 50) for name in NAMES[i : i + 2]]
    result = find_duplicates(texts, 1, encoder=Table(), compare_words=False)
    assert result.selected == texts[::2]


def test_a_classifier_decides_for_the_nearest_kept_texts(shipped, monkeypatch):
    """Scores are random here; the higher one may belong to either text."""
    monkeypatch.setattr(duplicates, "BLOCK_SIZE", 3)
    monkeypatch.setattr(duplicates, "CANDIDATE_COSINE", 0.3)
    monkeypatch.setattr(duplicates, "NUM_CANDIDATES", 2)
    texts = "How can I pay?|Who pays?|How do I pay?|How do you pay?|Where do I pay?|Who pays me?|"
    texts += "Is it paid?|Can I pay?|What can I pay?|Who is paid?|How is it paid?|How do we pay?"
    texts = texts.split("|")
    classifier = fitted(shipped)

    def scored(pairs):
        scores = numpy.array([random.Random(" ".join(pair)).random() for pair in pairs])
        return numpy.stack([1 - scores, scores], axis=1)

    monkeypatch.setattr(classifier, "predict_proba", scored)
    kept = []
    expected = []
    for position, text in enumerate(texts):
        near = sorted((-shipped.similarity(texts[i], text), i) for i in kept)[:2]
        near = [i for cosine, i in near if -cosine >= 0.3]
        pairs = [(texts[i], text) for i in near]
        scores = scored(pairs)[:, 1] if pairs else numpy.zeros(1)
        if scores.max() >= 0.6:
            expected.append((position, near[scores.argmax()], scores.max()))
        else:
            kept.append(position)
    result = find_duplicates(texts, 0.6, classifier, encoder=shipped)
    found = [(one.position, one.kept_position, one.score) for one in result.filtered]
    assert found == expected
    assert 0 < len(found) < len(texts) - 2
    assert any(one[1] > 0 for one in found)


def test_a_label_of_any_type(shipped):
    texts = ["How do I pay?", "How can I pay?"]
    named = fitted(shipped, ("other", "same"))
    for classifier, label in ((fitted(shipped, (False, True)), None), (named, "same")):
        result = find_duplicates(texts, 0.5, classifier, label=label, encoder=shipped)
        assert len(result.filtered) == 1
    message = r"label must be one of the classifier's, \['other', 'same'\]; "
    for label, end in ((None, "without it, duplicates have the label 1"), ("different", "got")):
        with pytest.raises(ValueError, match=message + end):
            find_duplicates(texts, 0.5, named, label=label)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I have 3 cards.", "I have 4 cards."),
        ("I have three cards.", "I have 4 cards."),
        ("The A320 is late.", "The A321 is late."),
        ("It is -5 degrees.", "It is 5 degrees."),
        ("It is (\u22125.5).", "It is (5.5)."),
        ("It rose .5 percent.", "It rose 5 percent."),
        ("Add ½ cup.", "Add ⅓ cup."),
        ("I have 3 cats and 4 dogs.", "I have 4 cats and 3 dogs."),
        ("It went from -5 to 5 degrees.", "It went from 5 to -5 degrees."),
        ("The man owns a dog.", "The man does not own a dog."),
        ("I can pay.", "I can’t pay."),
        ("I love it \U0001f600", "I love it \U0001f621"),
        ("Tesla Model 3 购买流程", "Tesla Model 3 电池更换"),
        ("ソファで猫が寝ています。", "ソファで男が本を読んでいます。"),
        ("Где находится библиотека?", "Сколько стоит этот билет?"),
        ("أنا أحبك", "أنا أكرهك"),
    ],
)
def test_a_number_or_a_negation_tells_texts_apart(shipped, first, second):
    find = partial(find_duplicates, [first, second], 0.5, encoder=shipped)
    assert find().filtered == []
    (duplicate,) = find(compare_words=False).filtered
    assert duplicate.score > 0.7


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("You cant return the item", "You can return the item"),
        ("I can`t log in", "I can log in"),
        ("i don 't believe in ghosts", "i do believe in ghosts"),
        ("He doesn &apos;t pay the bill", "He does pay the bill"),
        ("The fee is a million euros.", "The fee is a billion euros."),
        ("He is thirteen years old.", "He is fourteen years old."),
        ("She finished first.", "She finished second."),
        ("He read it once.", "He read it twice."),
        ("Take 5 mg daily.", "Take 5 g daily."),
        ("The shop opens at 9 am.", "The shop opens at 9 pm."),
        ("It is open from 9 am to 5 pm.", "It is open from 9 pm to 5 am."),
        ("What is 5 + 3?", "What is 5 - 3?"),
        ("x > 5 holds for the set.", "x < 5 holds for the set."),
        ("The temperature is minus five degrees.", "The temperature is five degrees."),
        ("What started World War I?", "What started World War II?"),
        ("Should I learn C?", "Should I learn C#?"),
        ("The shop is closed on Mondays.", "The shop is closed on Tuesdays."),
        ("The hotel is near the station.", "The hotel is far from the station."),
        ("He stands in front of the house.", "He stands behind the house."),
        ("Take the pill before lunch.", "Take the pill after lunch."),
        ("All dogs can swim.", "Some dogs can swim."),
        ("That is the right answer.", "That is the wrong answer."),
        ("The samples were tested.", "The samples were untested."),
        ("Book a flight from Paris to London.", "Book a flight from London to Paris."),
    ],
)
def test_a_word_turns_the_meaning(shipped, first, second):
    find = partial(find_duplicates, [first, second], 0.5, encoder=shipped)
    assert find().filtered == []
    assert len(find(compare_words=False).filtered) == 1


@pytest.mark.parametrize(
    "texts",
    [
        "You cant return it|You can't return it|You cannot return it|You can \u2019t return it",
        "It opens at 9 am|It opens at 9am|It opens at 9 a.m.|It opens at nine a.m.",
        "He has thirteen cats|He has 13 cats",
        "She finished first|She finished 1st",
        "It costs 1,000 dollars|It costs $1000|It costs a thousand dollars",
        "What started World War II?|What started World War 2?|What started World War Two?",
    ],
)
def test_other_forms_of_a_word_do_not(shipped, texts):
    texts = texts.split("|")
    assert find_duplicates(texts, 0.5, encoder=shipped).selected == texts[:1]


def test_texts_of_unknown_words_are_not_alike():
    """Their vectors are equal."""
    texts = ["\U0001f600 \U0001f600", "\U0001f680 \U0001f680", "A dog.", "\U0001f680 \U0001f680"]
    with pytest.warns(UserWarning, match="knows no word of 3 texts"):
        result = find_duplicates(texts, 0.5)
    assert [(one.position, one.kept_position) for one in result.filtered] == [(3, 1)]


def test_names_that_the_encoder_does_not_know_tell_texts_apart():
    """An exported encoder reads both as one unknown word."""
    texts = ["a man sees Ann", "a man sees Bob", "a man sees BOB"]
    result = find_duplicates(texts, encoder=tiny_encoder())
    assert [one.position for one in result.filtered] == [2]
    assert len(find_duplicates(texts, encoder=tiny_encoder(), compare_words=False).filtered) == 2


def test_the_reason_for_a_removal(shipped):
    texts = ["Who pays?", "How do I pay the bill?", "How can I pay the bill?"]
    result = find_duplicates(texts, 0.8)
    (one,) = result.filtered
    score = shipped.similarity(texts[1], texts[2])
    assert one == Duplicate(texts[2], 2, texts[1], 1, pytest.approx(score, abs=1e-6))
    assert one.differing_words == (["can"], ["do"])
    assert result.selected == texts[:2]


def test_the_kept_texts_with_their_duplicates(shipped):
    texts = ["Who pays?", "How do I pay the bill?", "How can I pay the bill?", "who pays", TEXT]
    find = partial(find_duplicates, threshold=0.8, encoder=shipped)
    result = find(texts)
    kept = result.selected_with_duplicates
    assert [one.text for one in kept] == [texts[0], texts[1], TEXT]
    assert result.selected == [texts[0], texts[1], TEXT]
    assert [one.position for one in kept] == [0, 1, 4]
    assert result.selected_positions == [0, 1, 4]
    assert [[d.position for d in one.duplicates] for one in kept] == [[3], [2], []]
    across = find(texts[:1], against=["A dog.", "who pays", "Who pays"])
    assert across.selected_positions == []
    assert across.against == ["A dog.", "who pays", "Who pays"]
    found = [len(one.duplicates) for one in across.selected_with_duplicates]
    assert sorted(found) == [0, 0, 1]
    assert found[0] == 0


def test_texts_that_are_added_to_those_of_a_result_are_checked():
    result = find_duplicates(["a"], against=["a"], encoder=Table())
    for texts in (result.texts, result.against):
        texts.append(" ")
        with pytest.raises(ValueError, match=r"^sentence 1 is blank"):
            find_duplicates(texts, encoder=Table())


def test_the_doubtful_removals_are_first():
    """If one word replaces another, a person sees more than the cosine."""
    kept = "The red dog sleeps in the garden"
    texts = [
        kept,
        "the red dog sleeps in the garden.",  # the same words
        "The red dog sleeps in a garden",  # another function word
        "The red dog sleeps in the large garden",  # an additional word
        "The blue cat sleeps in the garden",  # two words
        "The red cat sleeps in the garden",  # one word
    ]
    constant = SimpleNamespace(encode=lambda texts: numpy.ones((len(texts), 4)))
    result = find_duplicates(texts, encoder=constant)
    assert [one.position for one in result.doubtful_first] == [5, 4, 3, 2, 1]


def test_no_texts_and_nothing_to_compare_with():
    constant = SimpleNamespace(encode=lambda texts: numpy.ones((len(texts), 4)))
    find = partial(find_duplicates, encoder=constant)
    assert find([]).selected == []
    assert find([], against=["a dog"]).selected == []
    # Across two collections, the texts are not compared with each other.
    texts = [f"text {name}" for name in NAMES[:20]] * 2
    assert find(texts, against=[]).selected == texts
    assert find_duplicates(["a dog", "a cat"], against=["a dog"] * 2).selected == ["a cat"]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        *(
            ({"threshold": value}, ValueError, "threshold must be a number above 0 and at most 1")
            for value in (0, -0.5, 1.5, float("nan"), True, "0.9")
        ),
        ({"classifier": "folder"}, TypeError, "expected a PairClassifier, got str"),
        ({"classifier": PairClassifier()}, ValueError, "is not fitted yet"),
        ({"label": 1}, ValueError, "label needs a classifier"),
        ({"texts": ["a", " "]}, ValueError, "sentence 1 is blank"),
        ({"against": "one"}, ValueError, "against: sentences must be a list"),
        ({"against": ["a", None]}, ValueError, "against: sentence 1 must be a string, not None"),
    ],
)
def test_impossible_settings(settings, error, message):
    with pytest.raises(error, match=message):
        find_duplicates(**({"texts": ["a dog"]} | settings))


def test_the_page_shows_what_is_found():
    page = (REPOSITORY / "docs/duplicates.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        exec(block, names)
        for expression, value in re.findall(r"^([a-z_., ]+)  # (.+)$", block, re.MULTILINE):
            if expression != "duplicate.score":
                assert eval(expression, names) == eval(value), expression
