"""Averages of word vectors."""

import gzip

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.transfer import WordVectorAverage

VECTORS = "the 1 0\nThe 0 1\ndog 3 -2.5\n. . 5 5\n"


@pytest.mark.parametrize(("name", "header"), [("v.txt", ""), ("v.txt.gz", ""), ("v.vec", "4 2\n")])
def test_known_words_are_averaged(tmp_path, name, header):
    opened = gzip.open if name.endswith(".gz") else open
    with opened(tmp_path / name, "wt") as file:
        file.write(header + VECTORS)
    average = WordVectorAverage.from_file(tmp_path / name)
    sentences = ["the dog", "The DOG barks", "nothing known", "", "dog dog the"]
    expected = [[2, -1.25], [1.5, -0.75], [0, 0], [0, 0], [7 / 3, -5 / 3]]
    encoded = average.encode(sentences)
    assert encoded.dtype == numpy.float32
    numpy.testing.assert_allclose(encoded, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1\n", "line 2: expected a word and 2 finite numbers"),
        ("a 1 2\nb 1 x\n", "line 2: expected a word and 2"),
        ("a 1 2\nb 1 nan\n", "line 2: expected a word and 2"),
        ("words\nand more\n", "line 1: expected a word and some"),
        ("", "empty"),
        ("2 3\n", "has no word vectors"),
    ],
)
def test_a_file_of_another_form_is_an_error(tmp_path, text, message):
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        WordVectorAverage.from_file(tmp_path / "v.txt")
