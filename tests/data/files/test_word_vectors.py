import bz2
import gzip
import zipfile
from pathlib import Path

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.word_vectors import read_word_vectors

VECTORS = "the 1 0\n. . 5 5\nThe 0 1\nthe 3 4\n"


def write(path: Path, text: str) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("vectors.txt", text)
    else:
        pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
        path.write_bytes(pack(text.encode()))
    return path


@pytest.mark.parametrize("name", ["v.txt", "v.txt.gz", "v.txt.bz2", "v.zip"])
@pytest.mark.parametrize("header", ["", "4 2\n"])
def test_all_words_in_order(tmp_path: Path, name: str, header: str):
    found = list(read_word_vectors(write(tmp_path / name, header + VECTORS)))
    assert [word for word, _ in found] == ["the", ". .", "The", "the"]
    numpy.testing.assert_array_equal([v for _, v in found], [[1, 0], [5, 5], [0, 1], [3, 4]])
    assert found[0][1].dtype == numpy.float32


def test_some_words(tmp_path: Path):
    path = write(tmp_path / "v.txt", VECTORS + "dog 1\n")  # not checked
    ((word, vector),) = read_word_vectors(path, {"The", "cat"})
    assert (word, vector.tolist()) == ("The", [0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1\n", "v.txt, line 2: expected a word and 2 finite numbers.* got 'b 1'"),
        ("2 2\na 1 2\nb 1 x\n", "line 3: expected a word and 2"),
        ("a 1 2\nb 1 inf\n", "line 2: expected a word and 2"),
        ("words and\nmore\n", "line 1: expected a word and 1"),
        ("", "v.txt is empty"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, text: str, message: str):
    path = write(tmp_path / "v.txt", text)
    with pytest.raises(ConfigurationError, match=message):
        list(read_word_vectors(path))


def test_a_damaged_file(tmp_path: Path):
    path = tmp_path / "v.txt.gz"
    path.write_bytes(gzip.compress(VECTORS.encode())[:-4])
    with pytest.raises(ConfigurationError, match=r"v.txt.gz cannot be read after line \d+ \("):
        list(read_word_vectors(path))
    path.write_bytes(VECTORS.encode())
    with pytest.raises(ConfigurationError, match=r"v.txt.gz cannot be read after line 0 \(Not a"):
        list(read_word_vectors(path))
    path = tmp_path / "v.txt"
    path.write_bytes(VECTORS.encode() + b"\xff 1 2\n")
    with pytest.raises(ConfigurationError, match=r"v.txt cannot be read after line .*utf-8"):
        list(read_word_vectors(path))


def test_a_missing_file(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        list(read_word_vectors(tmp_path / "v.txt"))
