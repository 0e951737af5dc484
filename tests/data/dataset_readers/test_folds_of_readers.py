"""Folds of each reader: no repeated sentence is in two of them."""

import json
import logging

import numpy
import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader

from allennlp_sentmatch.data.dataset_readers import formatted_reader

CLAIMS = [
    (f"claim {c}", f"premise {c}{p}", "yes" if p % 2 else "no") for c in range(6) for p in range(5)
]
TABLE = {"format": formatted_reader.TABLE}


def make(kind, **settings):
    return DatasetReader.from_params(Params({"type": kind, **settings}))


def metadata(reader, path, key, **folds):
    """The values of `key` in the metadata of the examples in the folds."""
    data_path = {"path": str(path), "folds": {"number": 3, **folds}}
    return [one.fields["metadata"].metadata[key] for one in reader.read(data_path)]


def split(reader, path, key, **folds):
    kept = metadata(reader, path, key, keep=[0], **folds)
    left = metadata(reader, path, key, drop=[0], **folds)
    return kept, left


def rows(write, lines, name="data.tsv"):
    return write("".join("\t".join(line) + "\n" for line in lines), name)


@pytest.mark.parametrize("columns", [(0, 1), (1, 0)])
def test_premises_of_a_claim(write, caplog, columns):
    names = ("premise", "hypothesis")
    path = rows(write, CLAIMS)
    reader = make("sentence_pair", **TABLE, sentence1=columns[0], sentence2=columns[1], label=2)
    claim = names[columns.index(0)]
    with caplog.at_level(logging.INFO):
        kept, left = split(reader, path, claim)
    assert (len(kept), len(left)) == (10, 20)
    assert not set(kept) & set(left)
    said = [x for x in caplog.messages if "in one fold" in x]
    assert said[0] == (
        f"{path}: examples with the same {claim} are in one fold: 30 examples are 6 groups, and 10 "
        "examples are in the folds read"
    )
    assert len(said) == 2  # one for each reading


def test_pairs_that_differ_in_case_and_marks(write):
    pairs = [(f"First no. {i}", f"s\u00e9cond {i}", "1") for i in range(10)]
    copies = [(f"first no {i}", f"\u201cSecond\u201d: {i}", "1") for i in range(10)]
    path = rows(write, pairs + copies)
    reader = make("sentence_pair", **TABLE, sentence1=0, sentence2=1, label=2)
    kept, left = split(reader, path, "hypothesis")
    assert len(kept) == 8
    assert not {text[-1] for text in kept} & {text[-1] for text in left}


def test_equal_pairs_in_either_order(write, caplog):
    pairs = [(f"first {i}", f"second {i}", "1") for i in range(9)]
    path = rows(write, [*pairs, *[(b, a, label) for a, b, label in pairs], *pairs])
    reader = make("sentence_pair", **TABLE, sentence1=0, sentence2=1, label=2)
    with caplog.at_level(logging.INFO):
        kept, left = split(reader, path, "premise")
    assert (len(kept), len(left)) == (9, 18)
    assert not {text.split()[1] for text in kept} & {text.split()[1] for text in left}
    assert "equal pairs, in either order, are in one fold: 27 examples are 9 groups" in caplog.text


def test_by_line(write):
    reader = make("sentence_pair", **TABLE, sentence1=0, sentence2=1, label=2)
    kept, _ = split(reader, rows(write, CLAIMS), "hypothesis", by="line")
    assert kept == [premise for _, premise, _ in CLAIMS[::3]]


def test_published_formats(write):
    """Folds are dealt by lines, as for the published figures, unless a path says otherwise."""
    lines = [json.dumps({"sentence1": a, "sentence2": b, "gold_label": c}) for a, b, c in CLAIMS]
    path = write("\n".join(lines) + "\n", "data.jsonl")
    reader = make("sentence_pair", format="snli")
    assert split(reader, path, "hypothesis")[0] == [premise for _, premise, _ in CLAIMS[::3]]
    kept, left = split(reader, path, "premise", by="sentence")
    assert len(kept) == 10
    assert not set(kept) & set(left)


def test_equal_sentences(write):
    path = rows(write, [("good", "1"), ("bad", "0"), ("so so", "0")] * 2 + [("good", "0")] * 2)
    kept, left = split(make("single_sentence", **TABLE, text=0, label=1), path, "text")
    assert (set(kept), set(left)) == ({"good"}, {"bad", "so so"})


def test_questions_with_answers_and_about_a_passage(write):
    path = rows(write, [("q 1", "a", "1", "x"), ("q  1", "b", "0", "y"), ("q 2", "c", "1", "z")])
    columns = {"question": 0, "candidate": 1, "label": 2, "question_id": 3}
    kept, left = split(make("answer_selection", **TABLE, **columns), path, "question")
    assert (kept, left) == (["q 1", "q  1"], ["q 2"])

    passages = [(f"what {i}", f"passage {i // 3}", "passage") for i in range(9)]
    columns = {"question": 0, "passage": 1, "answers": 2}
    reader = make("reading_comprehension", **TABLE, **columns)
    kept, left = split(reader, rows(write, passages), "passage")
    assert set(kept) == {"passage 0"}
    assert set(left) == {"passage 1", "passage 2"}


def test_sentences_with_vectors(tmp_path, write):
    write("one\ntwo\none\nthree\n", "data.txt")
    numpy.save(tmp_path / "data.npy", numpy.ones((4, 2), numpy.float32))
    reader = make("sentence_vectors")
    kept, left = split(reader, tmp_path / "data.txt", "text")
    assert (kept, left) == (["one", "one"], ["two", "three"])


def test_trees_by_their_words(write):
    trees = ["(3 (2 It) (4 works))", "(1 (2 It) (1 fails))", "(2 (2 It) (2 works))", "(2 No)"]
    path = write("\n".join(trees) + "\n", "trees.txt")
    kept, left = split(make("sentiment_trees"), path, "text", by="sentence")
    assert (kept, left) == (["It works", "It works"], ["It fails", "No"])


def test_what_is_left_out_is_counted_once(write, caplog):
    lines = [
        json.dumps({"sentence1": "a", "sentence2": str(i), "gold_label": label})
        for i, label in enumerate(["-", "neutral", "neutral"])
    ]
    path = write("\n".join(lines) + "\n", "data.jsonl")
    with caplog.at_level(logging.INFO):
        split(make("sentence_pair", format="snli"), path, "hypothesis", by="sentence")
    (said, _) = (text for text in caplog.messages if "left out" in text)
    assert said.endswith("left out 1 with the label '-', which marks a missing gold label")
