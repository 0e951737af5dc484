"""Rounded weights are near the given ones, and refused without their scales."""

import numpy
import pytest
import torch

from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.quantization import dequantized, quantized
from allennlp_sentmatch.standalone.tensor_file import read_tensors, write_tensors
from tests.files.undigested import remove_digests
from tests.standalone.test_encoder import SENTENCES, make

SCALES = [1e-30, 1e-3, 1.0, 1e3, 0.0]
"""Sizes of the rows of a matrix."""


def matrix_of_rows(scales, width):
    """Return a random matrix whose rows have these sizes."""
    return torch.randn(len(scales), width) * torch.tensor(scales)[:, None]


def largest_of_rows(matrix):
    return matrix.abs().amax(1, keepdim=True)


def test_rounding_moves_a_number_by_half_a_step_at_most():
    matrix = matrix_of_rows(SCALES, 40)
    tensors = {
        "matrix": matrix,
        "bias": torch.randn(3),
        "half": torch.randn(2, 3).half(),
    }
    restored = dequantized(quantized(tensors))
    step = largest_of_rows(matrix) / 127
    errors = (restored["matrix"] - matrix).abs()
    assert (errors <= step * 0.5001).all()
    torch.testing.assert_close(largest_of_rows(restored["matrix"]), largest_of_rows(matrix))
    assert restored["bias"] is tensors["bias"]
    assert set(restored) == set(tensors)


def test_an_encoder_of_8_bits_is_smaller_and_nearly_the_same(tmp_path):
    encoder = make()
    encoder.save(tmp_path / "whole")
    encoder.save(tmp_path / "rounded", int8=True)
    tensors = read_tensors(tmp_path / "rounded" / "model.safetensors")
    assert tensors["embedding.weight"].dtype == torch.int8
    vectors = StandaloneEncoder.load(tmp_path / "rounded").encode(SENTENCES)
    expected = StandaloneEncoder.load(tmp_path / "whole").encode(SENTENCES)
    numpy.testing.assert_allclose(vectors, expected, atol=0.02)
    assert not numpy.array_equal(vectors, expected)


def test_a_matrix_in_4_bits():
    matrix = matrix_of_rows([*SCALES, 2.0], 10)
    matrix[5] = torch.tensor([-7, 7, -1, 0, 3, -4, 6, -6, 5, 1]) / 4  # every kind of half a byte
    stored = quantized({"m": matrix, "n": matrix}, int4=["m"])
    assert stored["m.int4"].shape == (6, 5)
    restored = dequantized(stored)
    assert list(restored) == ["n", "m"]
    step = largest_of_rows(matrix) / 7
    errors = (restored["m"] - matrix).abs()
    assert (errors <= step * 0.501 + 1e-6).all()
    assert torch.equal(restored["m"][5], matrix[5])
    again = quantized({"m": restored["m"]}, int4=["m"])
    assert torch.equal(again["m.int4"], stored["m.int4"])


def test_an_encoder_with_words_in_4_bits(tmp_path):
    encoder = make()
    encoder._write_files(tmp_path, int8=True, int4_words=True)
    vectors = StandaloneEncoder.load(tmp_path).encode(SENTENCES)
    numpy.testing.assert_allclose(vectors, encoder.encode(SENTENCES), atol=0.2)


def test_a_matrix_that_a_file_has_twice(tmp_path):
    make()._write_files(tmp_path, int8=True, int4_words=True)
    remove_digests(tmp_path / "sentence_encoder.json")
    tensors = read_tensors(tmp_path / "model.safetensors")
    tensors["embedding.weight"] = torch.ones(5, 4)
    write_tensors(tmp_path / "model.safetensors", tensors)
    with pytest.raises(ValueError, match="is there twice"):
        StandaloneEncoder.load(tmp_path)


SCALES_NAME = "embedding.weight.scales"


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        (SCALES_NAME, torch.ones(1)),
        (SCALES_NAME, torch.ones(4)),
        (SCALES_NAME, torch.ones(5, 1)),
        (SCALES_NAME, torch.ones(5, dtype=torch.int8)),
        (SCALES_NAME, torch.full((5,), torch.inf)),
        ("embedding.weight", torch.ones(5, 4)),
        ("encoder.encoder.bias_l0", torch.ones(12, dtype=torch.int8)),
    ],
)
def test_integers_with_wrong_scales_are_refused(tmp_path, name, tensor):
    make().save(tmp_path, int8=True)
    remove_digests(tmp_path / "sentence_encoder.json")
    tensors = read_tensors(tmp_path / "model.safetensors")
    assert name in tensors
    tensors[name] = tensor
    write_tensors(tmp_path / "model.safetensors", tensors)
    with pytest.raises(ValueError, match=r"model\.safetensors"):
        StandaloneEncoder.load(tmp_path)


def test_integers_without_their_scales_are_refused(tmp_path):
    make().save(tmp_path, int8=True)
    remove_digests(tmp_path / "sentence_encoder.json")
    tensors = read_tensors(tmp_path / "model.safetensors")
    del tensors[SCALES_NAME]
    write_tensors(tmp_path / "model.safetensors", tensors)
    with pytest.raises(ValueError, match=r"model\.safetensors"):
        StandaloneEncoder.load(tmp_path)
