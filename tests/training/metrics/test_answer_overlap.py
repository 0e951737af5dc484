import sys

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric
from allennlp_sentmatch.training.metrics.answer_overlap import (
    squad_exact_match,
    squad_f1,
    squad_words,
)
from hypothesis import given
from hypothesis import strategies as st

from allennlp_sentmatch.training.metrics import AnswerOverlap

sacrebleu = pytest.importorskip("sacrebleu")
rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")

PREDICTIONS = ["the old king of the north", "he walked home", "", "because it was so cold outside"]
REFERENCES = [
    ["The king of the North.", "an old king"],
    ["He was walking home.", "they walk to the home of the fox"],
    ["nothing"],
    ["It was very cold.", "because it was cold outside", "cold"],
]
ANSWERS = st.lists(
    st.sampled_from(["the", "The", "a", "an", "cat", "Cat.", "cat's", "dog", "-", "--dog", "1,5"]),
    max_size=6,
).map(" ".join)


def longest_common_subsequence(first, second):
    if not first or not second:
        return 0
    if first[-1] == second[-1]:
        return longest_common_subsequence(first[:-1], second[:-1]) + 1
    return max(
        longest_common_subsequence(first[:-1], second),
        longest_common_subsequence(first, second[:-1]),
    )


def rouge_l(prediction, reference):
    predicted, expected = prediction.split(), reference.lower().replace(".", "").split()
    common = longest_common_subsequence(predicted, expected)
    return 2 * common / (len(predicted) + len(expected))


def test_batches_give_the_corpus_figures():
    metric = Metric.from_params(Params({"type": "answer_overlap"}))
    metric(PREDICTIONS[:1], REFERENCES[:1])
    metric([], [])
    metric(PREDICTIONS[1:], REFERENCES[1:])
    figures = metric.get_metric()

    padded = [[*references, None, None][:3] for references in REFERENCES]
    for order in (1, 4):
        bleu = sacrebleu.BLEU(lowercase=True, max_ngram_order=order)
        expected = bleu.corpus_score(PREDICTIONS, [list(column) for column in zip(*padded)]).score
        assert 0 < expected < 100
        assert figures[f"bleu_{order}"] == pytest.approx(expected, abs=1e-9)
    best = [
        max(rouge_l(prediction, reference) for reference in references)
        for prediction, references in zip(PREDICTIONS, REFERENCES)
    ]
    assert figures["rouge_l"] == pytest.approx(100 * sum(best) / 4, abs=1e-9)
    assert metric.get_metric(reset=True) == figures
    assert metric.get_metric() == dict.fromkeys(figures, 0.0)


def test_meteor_by_hand():
    """Lavie and Agarwal (2007): F = PR / (0.9 P + 0.1 R), penalty 0.5 (chunks / matches)^3."""

    def meteor(prediction, *references):
        metric = AnswerOverlap()
        metric([prediction], [references])
        return metric.get_metric()["meteor"] / 100

    # "walked" and "walking" have the same stem: 3 matches in 1 chunk, of 3 and of 4 words.
    f = 1 * 0.75 / (0.9 * 1 + 0.1 * 0.75)
    expected = f * (1 - 0.5 * (1 / 3) ** 3)
    assert meteor("He walked home", "he walking home now.") == pytest.approx(expected, abs=1e-12)
    # Two chunks of one word each.
    f = (2 / 3) * (2 / 2) / (0.9 * 2 / 3 + 0.1 * 2 / 2)
    assert meteor("cold and wet", "cold, wet") == pytest.approx(f * 0.5, abs=1e-12)
    # A synonym in WordNet, which must not matter.
    assert meteor("car", "automobile") == 0
    assert meteor("car", "automobile", "Car!") == pytest.approx(0.5, abs=1e-12)


def test_the_best_reference_counts_for_exact_match_and_f1():
    metric = AnswerOverlap()
    metric(["the fox", "a red hen"], [["a dog", "Fox."], ["hen and fox", "the hen"]])
    figures = metric.get_metric()
    assert figures["exact_match"] == pytest.approx(50)
    assert figures["f1"] == pytest.approx(100 * (1 + 2 / 3) / 2)


def test_perfect_and_useless_answers():
    answer = "in the house of the old king"
    metric = AnswerOverlap()
    metric([answer, answer], [[answer], ["a dog", answer.upper()]])
    figures = metric.get_metric(reset=True)
    assert figures.pop("meteor") == pytest.approx(100 * (1 - 0.5 / 7**3))
    assert figures == pytest.approx(dict.fromkeys(figures, 100.0))
    metric(["", "x y z"], [[answer], [answer]])
    assert set(metric.get_metric().values()) == {0.0}


def test_refusals():
    metric = AnswerOverlap()
    with pytest.raises(ConfigurationError, match="2 predictions, but references for 1"):
        metric(["a", "b"], [["a"]])
    with pytest.raises(ConfigurationError, match="no reference for the prediction 'a'"):
        metric(["a"], [[]])


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    with pytest.raises(ConfigurationError, match=r"the extra \[reading-comprehension\]: pip inst"):
        AnswerOverlap().load_libraries()


def test_case_punctuation_and_articles_do_not_count():
    assert squad_words("The cat's tail -- an  inch, or a half.") == [
        *("cats", "tail", "inch", "or", "half")
    ]
    assert squad_exact_match("the King's Palace", "Kings  palace.") == 1
    assert squad_exact_match("kings palace", "palace kings") == 0


def test_squad_f1():
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
