"""The diversity of sentences, by hand."""

import pytest
from allennlp.common import Params
from allennlp.training.metrics import Metric

from allennlp_sentmatch.training.metrics import Distinct

SENTENCES = [
    ["a", "man", "sleeps"],
    ["a", "man", "runs"],
    ["a"],
    [],
]


def test_distinct_by_hand():
    # a, man, sleeps, runs; (a man), (man sleeps), (man runs); 7 tokens and 4 bigrams in all
    one, two = (Metric.from_params(Params({"type": f"distinct-{n}"})) for n in (1, 2))
    per_bigram = Distinct(2, per_ngram=True)
    for metric, expected in [
        (one, 4 / 7),
        (two, 3 / 7),
        (Distinct(3), 2 / 7),
        (per_bigram, 3 / 4),
        (Distinct(1, per_ngram=True), 4 / 7),
    ]:
        metric(SENTENCES[:1])
        metric(SENTENCES[1:])
        assert metric.get_metric() == pytest.approx(expected)
        assert metric.get_metric(reset=True) == pytest.approx(expected)
        assert metric.get_metric() == 0.0
