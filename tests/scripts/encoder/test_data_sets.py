"""The data sets for the package's encoder are read and divided in the same way each time."""

import gzip

import pytest

from scripts.encoder import data_sets
from scripts.encoder.data_sets import FREE, RESTRICTED, TEST, DataSet, held_out


def test_a_text_is_always_in_the_same_part():
    texts = [f"text {i}" for i in range(4000)]
    for share in (0.5, 0.2, 0.0, 1.0):
        part = [held_out(text, share) for text in texts]
        assert sum(part) / len(part) == pytest.approx(share, abs=0.03)
        assert part == [held_out(text, share) for text in texts]


def test_readers_of_data_sets(tmp_path):
    def packed(name, text):
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
        return tmp_path / name

    scopes = "sentence1,sentence2,gold_label,sentence1_edited\na,b,neutral,c\n"
    packed("train.x.csv.gz", scopes)
    packed("train.y.csv.gz", "sentence1,sentence2\nd,e\n")
    assert list(data_sets.scopes(tmp_path / "train.*.csv.gz")) == ["a", "b", "c", "d", "e"]
    claims = packed("c.tsv.gz", 'sentence\tnegated\nA "b.\tNot A "b.\nC.\tNot C.\n')
    both = [list(data_sets.of_wikifactcheck(test)(claims)) for test in (False, True)]
    assert sorted(both[0] + both[1]) == ['A "b.', "C.", 'Not A "b.', "Not C."]
    pair = "<pair><chq>\n Is  it {0}?\n</chq><faq>What {0}?</faq></pair>"
    questions = packed("q.xml.gz", f"<x>{''.join(map(pair.format, range(40)))}</x>")
    train, test = (list(data_sets.of_rqe(test)(questions)) for test in (False, True))
    assert len(train) + len(test) == 80
    assert 0 < len(test) < len(train)
    assert all(held_out(text, 0.2) for text in test[1::2])
    assert all(text.startswith("Is it ") for text in train[::2])


def test_sentences_have_single_spaces(tmp_path):
    (tmp_path / "a").write_text(" one  two\tthree \n")
    assert list(DataSet("a", data_sets.lines("utf-8")).sentences(tmp_path)) == ["one two three"]


def test_every_data_set(shared_data):
    first = {}
    for sets in (FREE, RESTRICTED, TEST):
        for name, part in sets.items():
            first[name] = next(iter(part.sentences(shared_data)))
            assert first[name]
    assert len(first) == len(FREE) + len(RESTRICTED) + len(TEST)
    assert first["RQE, training part"] == "How should I treat polymenorrhea in a 14-year-old girl?"
    assert all(part.licence for part in FREE.values())
    for train, test in (
        ("MultiNLI matched dev, training half", "MultiNLI matched dev, test half"),
        ("WikiFactCheck, training half", "WikiFactCheck, test half"),
    ):
        sizes = [len(list(part.sentences(shared_data))) for part in (FREE[train], TEST[test])]
        assert sum(sizes) == 2 * (9815 if "NLI" in train else 14970)
        assert min(sizes) > 0.48 * sum(sizes)
