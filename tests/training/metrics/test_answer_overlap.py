"""The overlap of answers, by hand and by the libraries."""

from itertools import product

import pytest
import sacrebleu
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric

from allennlp_sentmatch.files.json_lines import json_rows
from allennlp_sentmatch.training.metrics import AnswerOverlap

RougeScorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer

DATA = "fixtures/own_data/questions.jsonl"

PREDICTIONS = ["the old king of the north", "he walked home", "", "because it was so cold outside"]
REFERENCES = [
    ["The king of the North.", "an old king"],
    ["He was walking home.", "they walk to the home of the fox"],
    ["nothing"],
    ["It was very cold.", "because it was cold outside", "cold"],
]


def rouge_l(prediction, reference):
    """Return the figure of the library, with its own tokenizer."""
    scores = RougeScorer(["rougeL"]).score(reference, prediction)
    return scores["rougeL"].fmeasure


@pytest.fixture
def metric():
    """Return a metric that has read the predictions in batches."""
    metric = Metric.from_params(Params({"type": "answer_overlap"}))
    metric(PREDICTIONS[:1], REFERENCES[:1])
    metric([], [])
    metric(PREDICTIONS[1:], REFERENCES[1:])
    return metric


@pytest.mark.parametrize("order", [1, 4])
def test_bleu_is_the_library_s(metric, order):
    padded = [[*references, None, None][:3] for references in REFERENCES]
    columns = [list(column) for column in zip(*padded)]
    bleu = sacrebleu.BLEU(lowercase=True, max_ngram_order=order)
    expected = bleu.corpus_score(PREDICTIONS, columns).score
    assert 0 < expected < 100
    assert metric.get_metric()[f"bleu_{order}"] == pytest.approx(expected, abs=1e-9)


def test_rouge_is_the_library_s_for_the_best_reference(metric):
    best = []
    for prediction, references in zip(PREDICTIONS, REFERENCES):
        best.append(max(rouge_l(prediction, reference) for reference in references))
    expected = 100 * sum(best) / 4
    assert metric.get_metric()["rouge_l"] == pytest.approx(expected, abs=1e-9)


def test_figures_are_kept_until_they_are_reset(metric):
    figures = metric.get_metric()
    assert metric.get_metric(reset=True) == figures
    assert metric.get_metric() == dict.fromkeys(figures, 0.0)


def meteor(prediction, *references):
    metric = AnswerOverlap()
    metric([prediction], [references])
    return metric.get_metric()["meteor"] / 100


def f_of(precision, recall):
    return precision * recall / (0.9 * precision + 0.1 * recall)


def test_meteor_by_hand():
    """Lavie and Agarwal (2007): F = PR / (0.9 P + 0.1 R), penalty 0.5 (chunks / matches)^3."""
    # "walked" and "walking" have the same stem: 3 matches in 1 chunk, of 3 and of 4 words.
    expected = f_of(1, 0.75) * (1 - 0.5 * (1 / 3) ** 3)
    assert meteor("He walked home", "he walking home now.") == pytest.approx(expected, abs=1e-12)
    # Two chunks of one word each.
    expected = f_of(2 / 3, 2 / 2) * 0.5
    assert meteor("cold and wet", "cold, wet") == pytest.approx(expected, abs=1e-12)


def test_meteor_knows_no_synonyms():
    """Those of WordNet must not matter."""
    assert meteor("car", "automobile") == 0
    assert meteor("car", "automobile", "Car!") == pytest.approx(0.5, abs=1e-12)


def test_the_best_reference_counts_for_exact_match_and_f1():
    metric = AnswerOverlap()
    metric(["the fox", "a red hen"], [["a dog", "Fox."], ["hen and fox", "the hen"]])
    figures = metric.get_metric(reset=True)
    assert figures["exact_match"] == pytest.approx(50)
    assert figures["f1"] == pytest.approx(100 * (1 + 2 / 3) / 2)


def test_articles_and_marks_do_not_count():
    """SQuAD 1.1: there is no F1 without a word."""
    metric = AnswerOverlap()
    metric(["the", "kings palace"], [["a"], ["The King's  palace."]])
    figures = metric.get_metric()
    assert figures["exact_match"] == 100
    assert figures["f1"] == 50


# By hand: 2 c / (n + m), with c words in common. If there is a `twin`, an English pair with
# the same words in the same places, all figures are those of the twin.
@pytest.mark.parametrize(
    ("prediction", "answer", "rouge", "twin"),
    [
        ("под мельницей", "под старой мельницей", 80, ("on mills", "on old mills")),
        ("está allí", "Está allí.", 100, None),
        ("schön", "schon", 0, ("fine", "done")),
        ("cafe\u0301 noir", "café noir", 100, ("black coffee", "black coffee")),
        ("पुरानी चक्की", "पुरानी चक्की के नीचे", 200 * 2 / 6, ("old mill", "old mill under it")),
        ("تحت الطاحونة", "تحت الطاحونة القديمة", 80, ("on mills", "on mills old")),
        ("방앗간 아래", "낡은 방앗간 아래", 80, ("old mill", "the old mill")),
        # Characters count as words.
        ("磨坊下", "老磨坊下面", 75, ("b c d", "x b c d y")),
        ("型", "A型", 200 / 3, None),
        ("コーヒー", "ブラックコーヒー", 200 * 4 / 12, ("e f g f", "h i j k e f g f")),
        ("โรงสี", "ใต้โรงสี", 80, ("d e f g", "b c d e f g")),
    ],
)
def test_words_of_every_script(prediction, answer, rouge, twin):
    metric = AnswerOverlap()
    metric([prediction], [[answer]])
    figures = metric.get_metric(reset=True)
    assert figures["rouge_l"] == pytest.approx(rouge)
    assert (figures["meteor"] > 0) == (rouge > 0)
    assert figures["exact_match"] == (100 if rouge == 100 else 0)
    if twin is not None and "the" not in twin[1]:  # SQuAD leaves it out
        metric([twin[0]], [[twin[1]]])
        assert figures == pytest.approx(metric.get_metric())


def test_english_figures_are_those_of_the_library():
    metric = AnswerOverlap()
    marks = ["It’s 1½ x² – “so-called” a_b 5€ N°7 …", "its 1 x, so called: A B 5 n 7"]
    questions = [row.text(["question"]) for row in json_rows(DATA)]
    texts = [*PREDICTIONS, *marks, "don't", *questions]
    for prediction, answer in product(texts, texts):
        metric([prediction], [[answer]])
        expected = pytest.approx(100 * rouge_l(prediction, answer))
        assert metric.get_metric(reset=True)["rouge_l"] == expected


@pytest.mark.parametrize(
    ("references", "message"),
    [
        ([["a"], ["b"]], "1 predictions, but references for 2"),
        ([[]], "there is no reference for the prediction 'a fox'"),
    ],
)
def test_every_answer_needs_a_reference(references, message):
    with pytest.raises(ConfigurationError, match=message):
        AnswerOverlap()(["a fox"], references)
