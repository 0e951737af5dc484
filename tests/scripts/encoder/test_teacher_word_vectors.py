import gzip
import sys

import numpy
import pytest

from allennlp_sentmatch.encoding import ArchiveEncoder
from scripts.encoder import teacher_word_vectors
from scripts.encoder.teacher_word_vectors import frequency_weights, reduce_vectors


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


def test_the_words_are_encoded_by_the_teacher(small_archive, tmp_path, monkeypatch, capsys):
    words = ["dog", "cat", "woman"]
    files = [tmp_path / name for name in ("words.txt", "sentences.txt", "vectors/words.txt.gz")]
    files[0].write_text("\n".join(words))
    files[1].write_text("A dog.\n")

    def run(size):
        arguments = ["", small_archive, *files, "--size", size]
        monkeypatch.setattr(sys, "argv", list(map(str, arguments)))
        teacher_word_vectors.main()

    run(2)
    lines = [line.split() for line in gzip.decompress(files[2].read_bytes()).decode().splitlines()]
    assert [word for word, *_ in lines] == words
    vectors = ArchiveEncoder.from_archive(str(small_archive)).encode(words)
    expected = reduce_vectors(vectors, frequency_weights(words, ["A dog."]), 2)
    actual = numpy.array([list(map(float, numbers)) for _, *numbers in lines])
    numpy.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-5)
    for size in (0, 4):
        with pytest.raises(SystemExit):
            run(size)
        assert f"--size must be between 1 and 3, got {size}" in capsys.readouterr().err
