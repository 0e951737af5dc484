"""Word vectors that a student starts from."""

import gzip
import sys

import numpy
import pytest

from allennlp_sentmatch.predictors import SentenceEncoder
from scripts import teacher_word_vectors
from scripts.teacher_word_vectors import frequency_weights, read_words, reduce_vectors


def test_words_of_a_list_and_of_a_file_of_vectors(tmp_path):
    (tmp_path / "list.txt").write_text("dog\ncat\n")
    with gzip.open(tmp_path / "vectors.txt.gz", "wt") as file:
        file.write("dog 0.1 2\ncat 0.3 4\n")
    assert read_words(tmp_path / "list.txt") == ["dog", "cat"]
    assert read_words(tmp_path / "vectors.txt.gz") == ["dog", "cat"]


def test_frequent_words_weigh_less():
    # Seven words: four times "the", once "dog" and a comma.
    weights = frequency_weights(["the", "dog", "cat"], ["The dog, the", "the end THE"])
    expected = [0.001 / (0.001 + 4 / 7), 0.001 / (0.001 + 1 / 7), 1.0]
    numpy.testing.assert_allclose(weights, expected)
    assert frequency_weights(["the"], []) == [1.0]


def test_vectors_are_projected_to_the_directions_of_largest_variance():
    generator = numpy.random.default_rng(0)
    vectors = generator.normal(size=(50, 6)) * [9, 1, 5, 2, 0.1, 3] + 7
    weights = generator.uniform(0.1, 1, 50)
    reduced = reduce_vectors(vectors, weights, 3)
    assert reduced.std() == pytest.approx(0.4)
    # The rank 3 approximation of the centered vectors has the same inner products, up to a factor.
    left, singular, _ = numpy.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    expected = weights[:, None] * (left[:, :3] * singular[:3])
    expected *= numpy.linalg.norm(reduced) / numpy.linalg.norm(expected)
    numpy.testing.assert_allclose(reduced @ reduced.T, expected @ expected.T, atol=1e-9)


@pytest.fixture
def run(small_archive, tmp_path, monkeypatch):
    """Runs the script for three words, and returns its output's lines."""
    (tmp_path / "words.txt").write_text("dog\ncat\nwoman\n")
    (tmp_path / "sentences.txt").write_text("A dog.\n")
    output = tmp_path / "vectors" / "words.txt.gz"

    def main(size: int) -> list[list[str]]:
        files = [tmp_path / "words.txt", tmp_path / "sentences.txt", output]
        arguments = [small_archive, *files, "--size", size]
        monkeypatch.setattr(sys, "argv", ["", *map(str, arguments)])
        teacher_word_vectors.main()
        return [line.split(" ") for line in gzip.open(output, "rt").read().splitlines()]

    return main


def test_the_words_are_encoded_by_the_teacher(run, small_archive):
    lines = run(2)
    assert [word for word, *_ in lines] == ["dog", "cat", "woman"]
    vectors = SentenceEncoder.from_archive(str(small_archive)).encode(["dog", "cat", "woman"])
    weights = frequency_weights(["dog", "cat", "woman"], ["A dog."])
    actual = numpy.array([list(map(float, numbers)) for _, *numbers in lines])
    numpy.testing.assert_allclose(actual, reduce_vectors(vectors, weights, 2), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("size", [0, 4])
def test_sizes_that_the_vectors_do_not_have(run, size, capsys):
    with pytest.raises(SystemExit):
        run(size)
    assert f"--size must be between 1 and 3, got {size}" in capsys.readouterr().err
