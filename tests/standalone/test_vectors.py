"""Vectors of any length, tiny and huge ones, are normalized."""

import numpy

from allennlp_sentmatch.standalone.vectors import normalized


def test_vectors_of_any_length_are_normalized():
    vectors = numpy.array(
        [
            [3, 4],
            [3e30, -4e30],
            [3e-30, 0],
            [0, 0],
        ],
        dtype=numpy.float32,
    )
    expected = [
        [0.6, 0.8],
        [0.6, -0.8],
        [1, 0],
        [0, 0],
    ]
    numpy.testing.assert_allclose(normalized(vectors), expected, rtol=1e-6)
    assert vectors[0, 0] == 3  # the argument is unchanged
