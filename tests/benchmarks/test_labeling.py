"""The pairs that are chosen for labeling, and the search for exchanged labels."""

import numpy
import pandas

from allennlp_sentmatch import SentenceEncoder
from benchmarks import labeling
from benchmarks.own_data_sets import DataSet
from tests.estimators.tiny_encoder import LABELS, PAIRS, tiny_encoder


def test_both_ways_begin_with_the_same_pairs_and_choose_as_many(monkeypatch):
    monkeypatch.setattr(labeling, "SIZES", (18, 20))
    learned = []

    class Classifier(labeling.PairClassifier):
        def fit(self, X, y):
            learned.append(sorted(map(tuple, X)))
            return super().fit(X, y)

    monkeypatch.setattr(labeling, "PairClassifier", Classifier)
    pool = numpy.array(PAIRS, dtype=object), numpy.array(LABELS)
    encoder = SentenceEncoder(tiny_encoder())
    for chooses in (True, False):
        assert len(list(labeling.accuracies(encoder, pool, pool, 0, chooses))) == 2
    assert [len(pairs) for pairs in learned] == [16, 18, 20] * 2
    assert learned[0] == learned[3]
    assert all(len(set(pairs)) == len(pairs) for pairs in learned)


def test_labels_are_exchanged_and_found(monkeypatch):
    table = pandas.DataFrame(PAIRS, columns=["a", "b"]).assign(label=LABELS)
    monkeypatch.setattr(labeling, "EXCHANGED", 1 / 36)
    row = labeling.errors("x", DataSet(table, table), SentenceEncoder(tiny_encoder()))
    assert row["pairs"] == "36"
    assert row["recall"] == "100"
    assert row["returned"] >= 1
