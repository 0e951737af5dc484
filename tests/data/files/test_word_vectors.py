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
    ("name", "content", "message"),
    [
        ("v.txt", b"a 1 2\nb 1\n", ", line 2: expected a word and 2 finite .* got 'b 1'"),
        ("v.txt", b"2 2\na 1 2\nb 1 x\n", ", line 3: expected a word and 2"),
        ("v.txt", b"a 1 2\nb 1 inf\n", ", line 2: expected a word and 2"),
        ("v.txt", b"words and\nmore\n", ", line 1: expected a word and 1"),
        ("v.txt", b"", " is empty"),
        ("v.txt", VECTORS.encode() + b"\xff 1 2\n", " cannot be read after line .*utf-8"),
        ("v.gz", gzip.compress(VECTORS.encode())[:-4], r" cannot be read after line \d+ \("),
        ("v.gz", VECTORS.encode(), r" cannot be read after line 0 \(Not a"),
    ],
    ids=range(8),  # without gzip's time stamp
)
def test_a_damaged_file(tmp_path: Path, name: str, content: bytes, message: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=name + message):
        list(read_word_vectors(tmp_path / name))


def test_a_missing_file(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        list(read_word_vectors(tmp_path / "v.txt"))
