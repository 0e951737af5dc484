import pytest
from hypothesis import given
from hypothesis import strategies as st

from allennlp_sentmatch.training.metrics.squad_scores import (
    squad_exact_match,
    squad_f1,
    squad_words,
)

ANSWERS = st.lists(
    st.sampled_from(["the", "The", "a", "an", "cat", "Cat.", "cat's", "dog", "-", "--dog", "1,5"]),
    max_size=6,
).map(" ".join)


def test_case_punctuation_and_articles_do_not_count():
    assert squad_words("The cat's tail -- an  inch, or a half.") == [
        *("cats", "tail", "inch", "or", "half")
    ]
    assert squad_exact_match("the King's Palace", "Kings  palace.") == 1
    assert squad_exact_match("kings palace", "palace kings") == 0


def test_f1():
    # Two of three predicted words are among four expected ones: 2 * (2/3 * 2/4) / (2/3 + 2/4).
    assert squad_f1("old red fox", "a red fox and hen") == pytest.approx(4 / 7, abs=1e-15)
    assert squad_f1("fox fox", "fox") == pytest.approx(2 / 3, abs=1e-15)
    assert squad_f1("hen", "fox") == 0
    assert squad_f1("the", "a") == 0


@given(ANSWERS, ANSWERS)
def test_allennlp_models_gives_the_same(prediction, reference):
    squad = pytest.importorskip("allennlp_models.rc.tools.squad")
    assert squad_exact_match(prediction, reference) == squad.compute_exact(prediction, reference)
    # SQuAD 2.0, which it follows, gives two empty answers an F1 of 1.
    if squad_words(prediction) or squad_words(reference):
        expected = squad.compute_f1(prediction, reference)
        assert squad_f1(prediction, reference) == pytest.approx(expected, abs=1e-12)
