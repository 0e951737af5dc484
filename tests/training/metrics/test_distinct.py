import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric

from allennlp_sentmatch.training.metrics import Distinct

SENTENCES = [["a", "man", "sleeps"], ["a", "man", "runs"], ["a"], []]


def test_by_hand():
    # a, man, sleeps, runs; (a man), (man sleeps), (man runs); 7 tokens in all
    for name, expected in [("distinct-1", 4 / 7), ("distinct-2", 3 / 7)]:
        metric = Metric.from_params(Params({"type": name}))
        metric(SENTENCES[:1])
        metric(SENTENCES[1:])
        assert metric.get_metric() == pytest.approx(expected)
        assert metric.get_metric(reset=True) == pytest.approx(expected)
        assert metric.get_metric() == 0.0


def test_n():
    metric = Distinct(3)
    metric(SENTENCES)
    assert metric.get_metric() == pytest.approx(2 / 7)
    with pytest.raises(ConfigurationError, match="n is 0"):
        Distinct(0)
