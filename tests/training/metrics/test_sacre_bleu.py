import sys

import pytest
import sacrebleu
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric

from allennlp_sentmatch.training.metrics import SacreBleu

TRANSLATIONS = ["The cat sits on the mat today.", "Two dogs run over a field.", "A man sleeps."]
REFERENCES = ["The cat sat on the mat today.", "Two dogs run across a field.", "The man is asleep."]


def test_batches_give_the_corpus_figure_of_the_library():
    metric = Metric.from_params(Params({"type": "sacre_bleu"}))
    metric(TRANSLATIONS[:2], REFERENCES[:2])
    metric([], [])
    metric(TRANSLATIONS[2:], REFERENCES[2:])
    expected = sacrebleu.corpus_bleu(TRANSLATIONS, [REFERENCES]).score
    assert 0 < expected < 100
    for reset in (False, True):
        assert metric.get_metric(reset) == {"BLEU": pytest.approx(expected, abs=1e-9)}
    assert metric.get_metric() == {"BLEU": 0.0}


def test_lower_case():
    cased, lower = SacreBleu(), SacreBleu(lowercase=True)
    for metric in (cased, lower):
        metric(["the Cat sat on the mat"], ["The cat sat on the mat"])
    assert lower.get_metric()["BLEU"] == pytest.approx(100)
    assert cased.get_metric()["BLEU"] < 60
    assert "case:lc" in lower.signature


def test_the_signature_is_the_library_s_before_and_after_a_batch(caplog):
    library = sacrebleu.BLEU(lowercase=True, tokenize="char")
    library.corpus_score(TRANSLATIONS, [REFERENCES])
    metric = SacreBleu(lowercase=True, tokenize="char")
    assert metric.signature == str(library.get_signature())
    metric(TRANSLATIONS, REFERENCES)
    assert metric.signature == str(library.get_signature())
    with caplog.at_level("INFO"):
        figure = metric.get_metric()["BLEU"]
        assert not caplog.messages
        metric.get_metric(reset=True)
    assert caplog.messages == [f"BLEU {figure:.2f} ({metric.signature})"]


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    metric = SacreBleu()
    with pytest.raises(ConfigurationError, match=r"the extra \[translation\]: pip install sacreb"):
        metric.load_library()


def test_an_unknown_tokenization():
    with pytest.raises(
        ConfigurationError, match=r"tokenize must be one of .*13a.*, got 'nonsense'"
    ):
        SacreBleu(tokenize="nonsense").get_metric()
