"""The quick-start data, written by hand."""

import csv
from collections import Counter

import pytest

FILES = ["train.tsv", "validation.tsv", "test.tsv"]


@pytest.fixture(scope="module")
def rows(fixtures):
    def read(name):
        with open(fixtures / "quick_start" / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t"))

    return {name: read(name) for name in FILES}


def test_no_premise_is_in_two_files(rows):
    premises = [{row["sentence1"] for row in rows[name]} for name in FILES]
    assert sum(map(len, premises)) == len(set.union(*premises))


def test_each_premise_has_one_hypothesis_of_each_label(rows):
    for name in FILES:
        labels = Counter((row["sentence1"], row["label"]) for row in rows[name])
        assert set(labels.values()) == {1}
        assert len(labels) == 3 * len({row["sentence1"] for row in rows[name]})


def test_the_everyday_pairs_are_not_among_them(rows, fixtures):
    path = fixtures / "quick_start" / "everyday_pairs.tsv"
    with open(path, encoding="utf-8", newline="") as file:
        everyday = {row["sentence1"] for row in csv.DictReader(file, delimiter="\t")}
    assert len(everyday) == 20
    assert everyday.isdisjoint(row["sentence1"] for name in FILES for row in rows[name])
