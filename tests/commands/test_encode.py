"""Tests of `allennlp encode`."""

import os

import numpy

from allennlp_sentmatch.predictors import SentenceEncoder


def test_encode_writes_what_the_sentence_encoder_gives(allennlp, small_archive, tmp_path):
    sentences = ["A man is asleep.", "", "Two dogs run.", "A man is asleep."]
    (tmp_path / "s.txt").write_text("".join(s + os.linesep for s in sentences))
    allennlp("encode", small_archive, tmp_path / "s.txt", tmp_path / "v.npy", "--block-size", 2)
    vectors = numpy.load(tmp_path / "v.npy")
    encoder = SentenceEncoder.from_archive(small_archive)
    numpy.testing.assert_allclose(vectors, encoder.encode(sentences), atol=1e-5)
    numpy.testing.assert_array_equal(vectors[0], vectors[3])
    assert numpy.abs(vectors[0] - vectors[2]).max() > 1e-4
