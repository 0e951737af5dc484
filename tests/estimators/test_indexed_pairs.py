"""The batches of the pairs that fine-tuning learns from."""

import numpy

from allennlp_sentmatch.estimators.indexed_pairs import IndexedPairs, PairLoader


def test_batches_have_every_pair_once_in_each_epoch():
    rows = [[i] * (1 + i % 4) for i in range(1, 22)]
    pairs = IndexedPairs(rows, rows[::-1], numpy.arange(21))
    loader = PairLoader(pairs, 5, seed=0)
    assert len(loader) == 5
    first = list(loader)
    second = list(loader)
    assert len(first) == 5
    order_of_first = numbers_of(first)
    order_of_second = numbers_of(second)
    assert sorted(order_of_first) == list(range(21))
    assert sorted(order_of_second) == list(range(21))
    assert order_of_first != order_of_second
    for batch in loader:
        for i, label in enumerate(batch["label"].tolist()):
            assert batch["premise"]["tokens"]["tokens"][i, 0] == label + 1
            assert batch["hypothesis"]["tokens"]["tokens"][i, 0] == 21 - label


def numbers_of(batches):
    return [number for batch in batches for number in batch["label"].tolist()]
