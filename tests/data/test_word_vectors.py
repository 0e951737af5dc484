"""Files of word vectors are read with any word in them; a damaged line is named."""

import bz2
import gzip
import zipfile
from pathlib import Path

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN, DEFAULT_PADDING_TOKEN
from allennlp.modules.token_embedders import Embedding

from allennlp_sentmatch.data.word_vectors import read_word_vectors

SPECIAL = (DEFAULT_PADDING_TOKEN, DEFAULT_OOV_TOKEN)
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
    assert word == "The"
    assert vector.tolist() == [0, 1]


@pytest.mark.parametrize(
    "content",
    [
        "the 1 0\nà\xa0b 0 1\n",
        "\ufeffthe 1 0\nà\xa0b 0 1\n",
        "\ufeff2 2\r\nthe 1 0\r\nà\xa0b 0 1\r\n",
        "2\t2 \nthe\t1 0\nà\xa0b\t0 1\n",
        "the\t1\t0\nà\xa0b 0\t1\t\n",
        "2  2\nthe  1  0 \nà\xa0b 0  1",
        "the 1 0\n à\xa0b 0 1\n",
        " \tthe 1 0\n\tà\xa0b 0 1\n",
        " 2 2\n  the 1 0\n à\xa0b 0 1\n",
    ],
)
@pytest.mark.parametrize("name", ["v.txt", "v.zip"])
def test_marks_and_separators_of_other_programs(tmp_path: Path, name: str, content: str):
    """This also holds for AllenNLP's embedder and vocabulary."""
    path = write(tmp_path / name, content)
    words = ["the", "à\xa0b"]
    for chosen in (None, set(words)):
        found = list(read_word_vectors(path, chosen))
        assert [word for word, _ in found] == words
        numpy.testing.assert_array_equal([vector for _, vector in found], [[1, 0], [0, 1]])
    vocabulary = Vocabulary(
        {"tokens": {"the": 2, "other": 1}},
        pretrained_files={"tokens": str(path)},
        min_pretrained_embeddings={"tokens": 2},
        only_include_pretrained_words=True,
    )
    assert set(vocabulary.get_token_to_index_vocabulary("tokens")) - set(SPECIAL) == set(words)
    embedding = Embedding(2, pretrained_file=str(path), vocab=vocabulary)
    rows = [vocabulary.get_token_index(word, "tokens") for word in words]
    assert embedding.weight[rows].tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the 1,5 0,5\nof 1 2\n", r", line 1: expected a word and 2 .* got 'the 1,5 0,5'"),
        ("a b 1 0\nthe 1 0\n", r", line 2: expected a word and 3"),
        ("of 0 1\nthe 1", r", line 2: expected a word and 2 .*is the file whole"),
    ],
)
def test_the_line_of_a_word_that_is_wanted(tmp_path: Path, content, message):
    with pytest.raises(ConfigurationError, match=r"v\.txt" + message):
        list(read_word_vectors(write(tmp_path / "v.txt", content), {"the"}))


def test_no_break_spaces_before_a_word_belong_to_it(tmp_path: Path):
    """Some words of GloVe 840B begin with them."""
    path = write(tmp_path / "v.txt", "the 1 0\n\xa0the 0 1\n")
    assert [word for word, _ in read_word_vectors(path)] == ["the", "\xa0the"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.txt", b"a 1 2\nb 1\n", ", line 2: expected a word and 2 finite .* got 'b 1'"),
        ("v.txt", b"2 2\na 1 2\nb 1 x\n", ", line 3: expected a word and 2"),
        ("v.txt", b"a 1 2\nb 1 inf\n", ", line 2: expected a word and 2"),
        ("v.txt", b"words and\nmore\n", ", line 1: expected a word and 1"),
        ("v.txt", b"", " is empty"),
        ("v.txt", VECTORS.encode() + b"\xff 1 2\n", " cannot be read after line .*utf-8"),
        (
            "v.gz",
            gzip.compress(VECTORS.encode(), mtime=0)[:-4],
            r" cannot be read after line \d+ \(",
        ),
        ("v.gz", VECTORS.encode(), r" cannot be read after line 0 \(Not a"),
    ],
    ids=range(8),  # without gzip's time stamp
)
def test_a_damaged_file(tmp_path: Path, name: str, content: bytes, message: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=name + message):
        list(read_word_vectors(tmp_path / name))
