"""Vectors from a file."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.digests import ending, sentences_digest
from allennlp_sentmatch.transfer import StoredVectors


@pytest.fixture
def files(tmp_path):
    (tmp_path / "s.txt").write_text("A dog.\n\nTwo cats \n")
    numpy.save(tmp_path / "v.npy", numpy.arange(6, dtype="f4").reshape(3, 2))
    return tmp_path / "s.txt", tmp_path / "v.npy"


def test_sentences_are_looked_up(files):
    stored = StoredVectors.from_files(*files)
    assert stored.encode(["Two cats ", "A dog.", ""]).tolist() == [[4, 5], [0, 1], [2, 3]]


def test_a_sentence_without_a_vector_is_named(files):
    with pytest.raises(ConfigurationError, match=r"1 of 2 sentences have no vector.*'Two cats'"):
        StoredVectors.from_files(*files).encode(["A dog.", "Two cats"])


def test_numbers_must_agree(files):
    numpy.save(files[1], numpy.zeros((2, 2), "f4"))
    with pytest.raises(ConfigurationError, match=r"3 sentences.*\(2, 2\)"):
        StoredVectors.from_files(*files)


def test_other_files_are_refused(files):
    files[1].write_text("0.1 0.2")
    with pytest.raises(ConfigurationError, match=r"v\.npy is not a whole NumPy file"):
        StoredVectors.from_files(*files)


def test_vectors_of_other_sentences(files):
    with open(files[1], "ab") as file:
        file.write(ending(sentences_digest(["A dog.", "", "Two cats "]).hexdigest()))
    StoredVectors.from_files(*files)
    files[0].write_text("A dog.\n\nTwo cats\n")
    with pytest.raises(ConfigurationError, match=r"v\.npy was made from other sentences"):
        StoredVectors.from_files(*files)
