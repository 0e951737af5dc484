"""BLEU of translations, by the library over the whole corpus."""

import pytest
import sacrebleu
from allennlp.common import Params
from allennlp.training.metrics import Metric

from allennlp_sentmatch.training.metrics import SacreBleu

TRANSLATIONS = ["The cat sits on the mat today.", "Two dogs run over a field.", "A man sleeps."]
RIGHT_ONES = ["The cat sat on the mat today.", "Two dogs run across a field.", "The man is asleep."]


def test_batches_give_the_corpus_figure_of_the_library():
    metric = Metric.from_params(Params({"type": "sacre_bleu"}))
    metric(TRANSLATIONS[:2], RIGHT_ONES[:2])
    metric([], [])
    metric(TRANSLATIONS[2:], RIGHT_ONES[2:])
    expected = sacrebleu.corpus_bleu(TRANSLATIONS, [RIGHT_ONES]).score
    assert 0 < expected < 100
    for reset in (False, True):
        assert metric.get_metric(reset) == {"BLEU": pytest.approx(expected, abs=1e-9)}
    assert metric.get_metric() == {"BLEU": 0.0}


def test_the_signature_is_the_library_s_before_and_after_a_batch(caplog):
    library = sacrebleu.BLEU(lowercase=True, tokenize="char")
    library.corpus_score(TRANSLATIONS, [RIGHT_ONES])
    metric = SacreBleu(lowercase=True, tokenize="char")
    before = metric.signature
    metric(TRANSLATIONS, RIGHT_ONES)
    assert before == str(library.get_signature())
    assert metric.signature == str(library.get_signature())
    with caplog.at_level("INFO"):
        figure = metric.get_metric()["BLEU"]
        assert not caplog.messages
        metric.get_metric(reset=True)
    assert caplog.messages == [f"BLEU {figure:.2f} ({metric.signature})"]


@pytest.mark.parametrize(
    ("references", "tokenize", "figure", "num_warnings"),
    [
        (["狐狸住在老磨坊下面。", "它偷一个鸡蛋, 3 个鸭蛋"], "13a", None, 1),
        (["狐狸住在老磨坊下面。", "它偷一个鸡蛋, 3 个鸭蛋"], "zh", 100, 0),
        (["สุนัขจิ้งจอกอยู่ใต้โรงสีเก่า", "fox"], "13a", None, 1),  # half of them
        (["สุนัขจิ้งจอกอยู่ใต้โรงสีเก่า"], "char", 100, 0),
        (["fox", "egg"], "13a", None, 0),
        ([*RIGHT_ONES, "他住在这里。"], "13a", None, 0),
    ],
)
def test_references_that_are_not_split(caplog, references, tokenize, figure, num_warnings):
    metric = SacreBleu(tokenize=tokenize)
    for _ in range(2):
        metric(references, references)
    assert len(caplog.messages) == num_warnings
    assert all("tokenize: 'zh'" in message for message in caplog.messages)
    if figure is not None:
        assert metric.get_metric() == {"BLEU": pytest.approx(figure)}
