"""Tests of reading sentences from text files and tables."""

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.tables import read_sentences


def test_text_keeps_empty_lines(tmp_path):
    (tmp_path / "s.txt").write_bytes("one é\r\n\nthree".encode())
    assert list(read_sentences(tmp_path / "s.txt")) == ["one é", "", "three"]


def test_columns_by_name_and_position(tmp_path):
    (tmp_path / "s.tsv").write_text("id\ttext\n1\tone\n2\ttwo\n")
    (tmp_path / "s.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    assert list(read_sentences(tmp_path / "s.tsv", "text")) == ["one", "two"]
    assert list(read_sentences(tmp_path / "s.tsv", 1)) == ["text", "one", "two"]
    assert list(read_sentences(tmp_path / "s.jsonl", "text")) == ["one", "two"]


def test_a_missing_column_is_named(tmp_path):
    (tmp_path / "s.tsv").write_text("id\ttext\n1\tone\n")
    with pytest.raises(ConfigurationError, match=r"s.tsv, line 2: there is no column 'body'"):
        list(read_sentences(tmp_path / "s.tsv", "body"))


def test_the_sentences_of_a_table_are_its_rows(tmp_path):
    """A blank line in a table of one column is a row to some programs and nothing to others."""
    (tmp_path / "one.csv").write_text("text\none\n\ntwo\n")
    with pytest.raises(ConfigurationError, match=r"one\.csv, line 3: a blank line"):
        list(read_sentences(tmp_path / "one.csv", "text"))
    (tmp_path / "two.tsv").write_text("id\ttext\n1\tone\n\t\n\n2\ttwo\n")
    assert list(read_sentences(tmp_path / "two.tsv", "text")) == ["one", "", "two"]


def test_another_delimiter(tmp_path):
    (tmp_path / "s.csv").write_text("id;text\n1;one, two\n")
    with pytest.raises(ConfigurationError, match=r"set `delimiter` \(.*: --delimiter\) to ';'"):
        list(read_sentences(tmp_path / "s.csv", "text"))
    assert list(read_sentences(tmp_path / "s.csv", "text", ";")) == ["one, two"]


def test_a_delimiter_needs_a_column(tmp_path):
    (tmp_path / "s.csv").write_text("one;two\n")
    with pytest.raises(ConfigurationError, match="delimiter=';' needs a column"):
        list(read_sentences(tmp_path / "s.csv", delimiter=";"))


@pytest.mark.parametrize("name", ["s.tsv", "s.CSV", "s.jsonl", "s.tsv.gz"])
def test_a_table_without_a_column_by_its_name(tmp_path, name):
    (tmp_path / name).write_text("one\n")
    with pytest.raises(ConfigurationError, match=rf"{name} is a table, it seems; name the column"):
        list(read_sentences(tmp_path / name))


def test_a_table_without_a_column_by_its_first_line(tmp_path):
    (tmp_path / "s.txt").write_text("id\ttext\n1\tone\n")
    with pytest.raises(ConfigurationError, match=r"s.txt is a table, it seems; .*--column"):
        list(read_sentences(tmp_path / "s.txt"))
    assert list(read_sentences(tmp_path / "s.txt", "text")) == ["one"]
    (tmp_path / "s.txt").write_text("\tindented\none\ttwo\n")
    assert list(read_sentences(tmp_path / "s.txt")) == ["\tindented", "one\ttwo"]
