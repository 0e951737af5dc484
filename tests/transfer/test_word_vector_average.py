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


def test_the_first_vector_of_a_word_counts(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 0\nthe 5 5\n")
    assert WordVectorAverage.from_file(tmp_path / "v.txt").encode(["the"]).tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [("a 1 2\nb 1\n", "v.txt, line 2: expected a word and 2"), ("2 3\n", "has no word vectors")],
)
def test_a_file_of_another_form_is_an_error(tmp_path, text, message):
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        WordVectorAverage.from_file(tmp_path / "v.txt")
