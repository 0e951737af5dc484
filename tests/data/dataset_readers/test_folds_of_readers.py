"""Folds of each reader: no repeated sentence is in two of them."""

import json
import logging

import numpy
import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader

from allennlp_sentmatch.data.dataset_readers import formatted_reader

LABEL_OF_PREMISE = ["no", "yes", "no", "yes", "no"]
CLAIMS = [
    (f"claim {claim}", f"premise {claim}{number}", label)
    for claim in range(6)
    for number, label in enumerate(LABEL_OF_PREMISE)
]
"""Six claims with five premises each."""


def make(kind, **settings):
    return DatasetReader.from_params(Params({"type": kind, **settings}))


PREMISES = [premise for _, premise, _ in CLAIMS]


def make_table_reader(kind, **columns):
    return make(kind, format=formatted_reader.TABLE, **columns)


def metadata(reader, path, key, **folds):
    """Return the values of `key` in the metadata of the examples in the folds."""
    data_path = {"path": str(path), "folds": {"number": 3, **folds}}
    return [one.fields["metadata"].metadata[key] for one in reader.read(data_path)]


def split(reader, path, key, **folds):
    """Return the values of the first fold, and of the other folds."""
    kept = metadata(reader, path, key, keep=[0], **folds)
    left = metadata(reader, path, key, drop=[0], **folds)
    return kept, left


def write_table(write, rows):
    return write("".join("\t".join(row) + "\n" for row in rows), "data.tsv")


def write_snli(write, rows):
    """Write rows of two sentences and a label in the format of SNLI."""
    names = ("sentence1", "sentence2", "gold_label")
    lines = [json.dumps(dict(zip(names, row))) for row in rows]
    return write("\n".join(lines) + "\n", "data.jsonl")


@pytest.mark.parametrize(
    ("columns", "claim"),
    [
        ({"sentence1": 0, "sentence2": 1}, "premise"),
        ({"sentence1": 1, "sentence2": 0}, "hypothesis"),
    ],
)
def test_premises_of_a_claim(write, caplog, columns, claim):
    path = write_table(write, CLAIMS)
    reader = make_table_reader("sentence_pair", **columns, label=2)
    with caplog.at_level(logging.INFO):
        kept, left = split(reader, path, claim)
    assert len(kept) == 10
    assert len(left) == 20
    assert not set(kept) & set(left)
    said = [message for message in caplog.messages if "in one fold" in message]
    assert len(said) == 2  # one for each reading
    assert said[0] == (
        f"{path}: examples with the same {claim} are in one fold: 30 examples are 6 groups, and 10 "
        "examples are in the folds read"
    )


def numbers_in(texts):
    """Return the last words, which are numbers."""
    return {text.split()[1] for text in texts}


def test_pairs_that_differ_in_case_and_marks(write):
    pairs = [(f"First no. {i}", f"s\u00e9cond {i}", "1") for i in range(10)]
    copies = [(f"first no {i}", f"\u201cSecond\u201d: {i}", "1") for i in range(10)]
    path = write_table(write, pairs + copies)
    reader = make_table_reader("sentence_pair", sentence1=0, sentence2=1, label=2)
    kept, left = split(reader, path, "hypothesis")
    assert len(kept) == 8
    assert not numbers_in(kept) & numbers_in(left)


def test_equal_pairs_in_either_order(write, caplog):
    pairs = [(f"first {i}", f"second {i}", "1") for i in range(9)]
    exchanged = [(second, first, label) for first, second, label in pairs]
    path = write_table(write, pairs + exchanged + pairs)
    reader = make_table_reader("sentence_pair", sentence1=0, sentence2=1, label=2)
    with caplog.at_level(logging.INFO):
        kept, left = split(reader, path, "premise")
    assert len(kept) == 9
    assert len(left) == 18
    assert not numbers_in(kept) & numbers_in(left)
    assert "equal pairs, in either order, are in one fold: 27 examples are 9 groups" in caplog.text


def test_by_line(write):
    reader = make_table_reader("sentence_pair", sentence1=0, sentence2=1, label=2)
    kept, _ = split(reader, write_table(write, CLAIMS), "hypothesis", by="line")
    assert kept == PREMISES[::3]


def test_published_formats(write):
    """Folds are dealt by lines, as for the published figures, unless a path says otherwise."""
    path = write_snli(write, CLAIMS)
    reader = make("sentence_pair", format="snli")
    kept, _ = split(reader, path, "hypothesis")
    assert kept == PREMISES[::3]
    kept, left = split(reader, path, "premise", by="sentence")
    assert len(kept) == 10
    assert not set(kept) & set(left)


def test_equal_sentences(write):
    sentences = [("good", "1"), ("bad", "0"), ("so so", "0")]
    path = write_table(write, sentences * 2 + [("good", "0")] * 2)
    kept, left = split(make_table_reader("single_sentence", text=0, label=1), path, "text")
    assert set(kept) == {"good"}
    assert set(left) == {"bad", "so so"}


def test_questions_with_answers(write):
    rows = [
        ("q 1", "a", "1", "x"),
        ("q  1", "b", "0", "y"),
        ("q 2", "c", "1", "z"),
    ]
    columns = {
        "question": 0,
        "candidate": 1,
        "label": 2,
        "question_id": 3,
    }
    reader = make_table_reader("answer_selection", **columns)
    kept, left = split(reader, write_table(write, rows), "question")
    assert kept == ["q 1", "q  1"]
    assert left == ["q 2"]


def test_questions_about_a_passage(write):
    rows = [(f"what {i}", f"passage {i // 3}", "passage") for i in range(9)]
    reader = make_table_reader(
        "reading_comprehension",
        question=0,
        passage=1,
        answers=2,
    )
    kept, left = split(reader, write_table(write, rows), "passage")
    assert set(kept) == {"passage 0"}
    assert set(left) == {"passage 1", "passage 2"}


def test_sentences_with_vectors(tmp_path, write):
    write("one\ntwo\none\nthree\n", "data.txt")
    numpy.save(tmp_path / "data.npy", numpy.ones((4, 2), numpy.float32))
    kept, left = split(make("sentence_vectors"), tmp_path / "data.txt", "text")
    assert kept == ["one", "one"]
    assert left == ["two", "three"]


def test_trees_by_their_words(write):
    trees = [
        "(3 (2 It) (4 works))",
        "(1 (2 It) (1 fails))",
        "(2 (2 It) (2 works))",
        "(2 No)",
    ]
    path = write("\n".join(trees) + "\n", "trees.txt")
    kept, left = split(make("sentiment_trees"), path, "text", by="sentence")
    assert kept == ["It works", "It works"]
    assert left == ["It fails", "No"]


def test_what_is_left_out_is_counted_once(write, caplog):
    rows = [
        ("a", "0", "-"),
        ("a", "1", "neutral"),
        ("a", "2", "neutral"),
    ]
    path = write_snli(write, rows)
    with caplog.at_level(logging.INFO):
        split(
            make("sentence_pair", format="snli"),
            path,
            "hypothesis",
            by="sentence",
        )
    said = [message for message in caplog.messages if "left out" in message]
    assert len(said) == 2
    assert said[0].endswith("left out 1 with the label '-', which marks a missing gold label")
