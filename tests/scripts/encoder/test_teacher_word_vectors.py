"""Frequent words weigh less, and the largest variance stays."""

import numpy
import pytest

from scripts.encoder.teacher_word_vectors import frequency_weights, reduce_vectors

pytestmark = pytest.mark.slow  # the program made the package's encoder once


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
