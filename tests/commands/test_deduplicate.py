"""`deduplicate` writes the sentences that it keeps and the reasons for the others."""

import errno
import gzip
import io
import json
import sys
from contextlib import contextmanager

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch import PairClassifier
from allennlp_sentmatch.files import folders, streams

TEXTS = ["How do I pay?", "Who pays?", "How can I pay?", "I have 3 cards.", "I have 4 cards."]


@pytest.fixture
def corpus(tmp_path):
    """Write the texts, and the second one again."""
    (tmp_path / "s.txt").write_text("\n".join([*TEXTS, TEXTS[1]]) + "\n")
    return tmp_path / "s.txt"


def lines_of(path):
    return path.read_text().splitlines()


def reasons_of(path):
    return [json.loads(line) for line in lines_of(path)]


def test_the_kept_sentences_and_the_reasons_are_written(allennlp, corpus, tmp_path, capsys):
    kept = tmp_path / "k.txt"
    report = tmp_path / "r.jsonl"
    allennlp("deduplicate", corpus, kept, "--report", report)
    assert lines_of(kept) == [*TEXTS[:2], *TEXTS[3:]]
    first, second = reasons_of(report)
    assert first["position"] == 2
    assert first["kept_position"] == 0
    assert first["kept_text"] == TEXTS[0]
    assert first["differing_words"] == [["can"], ["do"]]
    assert 0.9 < first["score"] < 1
    assert second["position"] == 5
    assert second["kept_position"] == 1
    assert second["score"] == 1
    assert "k.txt: 4 of 6 sentences are kept" in capsys.readouterr().out
    assert len(list(tmp_path.iterdir())) == 3


def test_words_may_be_ignored(allennlp, corpus, tmp_path):
    """The output is a link to a file that does not exist."""
    (tmp_path / "link").symlink_to(tmp_path / "w.txt")
    allennlp("deduplicate", corpus, tmp_path / "link", "--ignore-words", "--threshold", "0.8")
    assert lines_of(tmp_path / "w.txt") == [*TEXTS[:2], TEXTS[3]]


def test_a_classifier_and_another_file(allennlp, corpus, tmp_path):
    pairs = [(TEXTS[0], TEXTS[2]), TEXTS[:2]] * 3
    PairClassifier().fit(pairs, ["same", "other"] * 3).save(tmp_path / "model")
    (tmp_path / "t.csv").write_text('id,text\n1,"How can I pay?"\n')
    (tmp_path / "c.csv").write_text("text\n" + "\n".join(TEXTS) + "\n")
    arguments = ["deduplicate", tmp_path / "c.csv", tmp_path / "k.txt", "--column", "text"]
    arguments += ["--classifier", tmp_path / "model", "--against", tmp_path / "t.csv"]
    message = r"label must be .* \['other', 'same'\]; without it, duplicates have the label 1"
    with pytest.raises(ConfigurationError, match=message):
        allennlp(*arguments)
    allennlp(*arguments, "--label", "same")
    assert lines_of(tmp_path / "k.txt") == ["text", TEXTS[1], *TEXTS[3:]]


TABLE = 'id,text,label\n7,"How do I pay?",x\n8,"Who\npays?",y\n9,How can I pay?,"z,\n\nz"\n\n'


def test_the_rows_of_a_table_are_kept(allennlp, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    allennlp("deduplicate", tmp_path / "t.csv", tmp_path / "k.csv", "--column", "text")
    assert (tmp_path / "k.csv").read_text() == TABLE[: TABLE.index("9,")]


def test_the_objects_of_json_lines_are_kept(allennlp, tmp_path):
    rows = [json.dumps({"n": i, "text": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    options = ["--column", "text", "--ignore-words", "--threshold", "0.8"]
    allennlp("deduplicate", tmp_path / "t.jsonl", tmp_path / "k.jsonl", *options)
    assert lines_of(tmp_path / "k.jsonl") == [rows[0], rows[1], rows[3]]
    assert (tmp_path / "k.jsonl").read_text().endswith("\n")


def test_the_rows_of_a_table_without_a_header_are_kept(allennlp, tmp_path):
    (tmp_path / "t.tsv").write_text("1\tHow do I pay?\n2\tHow can I pay?\n")
    allennlp("deduplicate", tmp_path / "t.tsv", tmp_path / "k.tsv", "--column", "1")
    assert (tmp_path / "k.tsv").read_text() == "1\tHow do I pay?\n"


def test_compressed_files(allennlp, tmp_path):
    """A name that ends with ".gz" is the name of a compressed file, for input and output."""
    with gzip.open(tmp_path / "t.csv.gz", "wt", encoding="utf-8") as file:
        file.write(TABLE)
    outputs = tmp_path / "k.csv.gz", tmp_path / "r.jsonl.gz"
    arguments = [tmp_path / "t.csv.gz", outputs[0], "--report", outputs[1]]
    allennlp("deduplicate", *arguments, "--column", "text")
    with gzip.open(outputs[0], "rt", encoding="utf-8") as file:
        assert file.read() == TABLE[: TABLE.index("9,")]
    with gzip.open(outputs[1], "rt", encoding="utf-8") as file:
        assert json.loads(file.read())["position"] == 2
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_standard_streams(allennlp, monkeypatch, capsys, output):
    content = "How do I pay?\nHow can I pay?\nWhere is the caf\u00e9?\n"
    standard_input = io.TextIOWrapper(io.BytesIO(content.encode()))
    monkeypatch.setattr(sys, "stdin", standard_input)
    allennlp("deduplicate", "-", output)
    captured = capsys.readouterr()
    assert captured.out == "How do I pay?\nWhere is the caf\u00e9?\n"
    assert "2 of 3 sentences are kept" in captured.err


def test_blank_sentences_are_skipped_on_demand(allennlp, tmp_path, capsys):
    (tmp_path / "s.txt").write_text("How do I pay?\n\nWho pays?\n \n")
    allennlp("deduplicate", tmp_path / "s.txt", tmp_path / "k.txt", "--skip-blank")
    assert (tmp_path / "k.txt").read_text() == "How do I pay?\nWho pays?\n"
    assert "2 of 2 sentences are kept; left out as blank: 2" in capsys.readouterr().out


def test_rows_with_a_blank_cell_are_skipped_on_demand(allennlp, tmp_path):
    (tmp_path / "t.csv").write_text("id,text\n1,Who pays?\n2,\n3,A dog.\n")
    options = ["--column", "text", "--skip-blank"]
    allennlp("deduplicate", tmp_path / "t.csv", tmp_path / "k.csv", *options)
    assert (tmp_path / "k.csv").read_text() == "id,text\n1,Who pays?\n3,A dog.\n"


@pytest.mark.parametrize("option", ["output", "report"])
def test_after_a_full_disk_neither_file_is_left(allennlp, corpus, tmp_path, monkeypatch, option):
    paths = {"output": tmp_path / "k.txt", "report": tmp_path / "r.jsonl"}
    opened = folders.written_text

    @contextmanager
    def full(path):
        with opened(path) as file:
            if str(path) == str(paths[option]):
                file.flush = raise_full
            yield file

    def raise_full():
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(streams, "written_text", full)
    with pytest.raises((ConfigurationError, OSError), match="No space left on device"):
        allennlp("deduplicate", corpus, paths["output"], "--report", paths["report"])
    assert [path.name for path in tmp_path.iterdir()] == ["s.txt"]


def test_the_report_begins_with_the_doubtful_removals(allennlp, tmp_path):
    texts = ["The red dog sleeps here.", "the red dog sleeps here", "The red cat sleeps here."]
    (tmp_path / "s.txt").write_text("\n".join(texts))
    report = tmp_path / "r.jsonl"
    options = ["--report", report, "--threshold", "0.5"]
    allennlp("deduplicate", tmp_path / "s.txt", tmp_path / "k.txt", *options)
    first, second = reasons_of(report)
    assert first["position"] == 2
    assert second["position"] == 1
    assert next(iter(first)) == "differing_words"
    assert first["differing_words"] == [["cat"], ["dog"]]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a\n \nb\n", [], r"s\.txt, line 2: the sentence is blank; .* with --skip-blank"),
        ("", [], r"s\.txt has no sentences"),
        ("\n", ["--skip-blank"], r"s\.txt has no sentences"),
        ("a\n" + "b" * 10_001, [], r"s\.txt, line 2: the sentence has 10,001 characters"),
        ("a\tb\n", [], r"s\.txt is a table, it seems; name the column"),
        ("a\n", ["--threshold", "2"], "threshold must be a number above 0 and at most 1; got 2.0"),
        ("a\n", ["--label", "x"], "label needs a classifier"),
        ("a\n", ["--report", "s.txt"], r"s\.txt exists already; delete it or name another file"),
        ("a\n", ["--report", "none/r.txt"], r"the folder of .*/none/r\.txt does not exist"),
        ("a\n", ["--report", "k.txt"], "the output and --report must be different files"),
    ],
)
def test_impossible_input(allennlp, tmp_path, content, options, message):
    options = [tmp_path / one if one.endswith(".txt") else one for one in options]
    (tmp_path / "s.txt").write_text(content)
    with pytest.raises(ConfigurationError, match=message):
        allennlp("deduplicate", tmp_path / "s.txt", tmp_path / "k.txt", *options)
    assert [path.name for path in tmp_path.iterdir()] == ["s.txt"]
