"""Rounded weights are near the given ones, and refused without their scales."""

import numpy
import pytest
import torch

from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.quantization import dequantized, quantized
from allennlp_sentmatch.standalone.tensor_file import read_tensors, write_tensors
from tests.files.undigested import remove_digests
from tests.standalone.test_encoder import SENTENCES, make


def test_rounding_moves_a_number_by_half_a_step_at_most():
    matrix = torch.randn(5, 40) * torch.tensor([1e-30, 1e-3, 1.0, 1e3, 0.0])[:, None]
    tensors = {"matrix": matrix, "bias": torch.randn(3), "half": torch.randn(2, 3).half()}
    restored = dequantized(quantized(tensors))
    steps = matrix.abs().amax(1, keepdim=True) / 127
    assert ((restored["matrix"] - matrix).abs() <= steps * 0.5001).all()
    torch.testing.assert_close(restored["matrix"].abs().amax(1), matrix.abs().amax(1))
    assert restored["bias"] is tensors["bias"]
    assert set(restored) == set(tensors)


def test_words_in_4_bits(tmp_path):
    matrix = torch.randn(6, 10) * torch.tensor([1e-30, 1e-3, 1.0, 1e3, 0.0, 2.0])[:, None]
    matrix[5] = torch.tensor([-7, 7, -1, 0, 3, -4, 6, -6, 5, 1]) / 4  # every kind of half a byte
    stored = quantized({"m": matrix, "n": matrix}, int4=["m"])
    assert stored["m.int4"].shape == (6, 5)
    restored = dequantized(stored)
    assert list(restored) == ["n", "m"]
    steps = matrix.abs().amax(1, keepdim=True) / 7
    assert ((restored["m"] - matrix).abs() <= steps * 0.501 + 1e-6).all()
    assert torch.equal(restored["m"][5], matrix[5])
    again = quantized({"m": restored["m"]}, int4=["m"])
    assert torch.equal(again["m.int4"], stored["m.int4"])
    encoder = make()
    encoder._write_files(tmp_path, int8=True, int4_words=True)
    vectors = StandaloneEncoder.load(tmp_path).encode(SENTENCES)
    numpy.testing.assert_allclose(vectors, encoder.encode(SENTENCES), atol=0.2)
    remove_digests(tmp_path / "sentence_encoder.json")
    tensors = read_tensors(tmp_path / "model.safetensors")
    tensors["embedding.weight"] = torch.ones(5, 4)
    write_tensors(tmp_path / "model.safetensors", tensors)
    with pytest.raises(ValueError, match="is there twice"):
        StandaloneEncoder.load(tmp_path)


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


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("embedding.weight.scales", None),
        ("embedding.weight.scales", torch.ones(1)),
        ("embedding.weight.scales", torch.ones(4)),
        ("embedding.weight.scales", torch.ones(5, 1)),
        ("embedding.weight.scales", torch.ones(5, dtype=torch.int8)),
        ("embedding.weight.scales", torch.full((5,), torch.inf)),
        ("embedding.weight", torch.ones(5, 4)),
        ("encoder.encoder.bias_l0", torch.ones(12, dtype=torch.int8)),
    ],
)
def test_integers_without_their_scales_are_refused(tmp_path, name, tensor):
    make().save(tmp_path, int8=True)
    remove_digests(tmp_path / "sentence_encoder.json")
    tensors = read_tensors(tmp_path / "model.safetensors")
    tensors.pop(name)
    others = {} if tensor is None else {name: tensor}
    write_tensors(tmp_path / "model.safetensors", {**tensors, **others})
    with pytest.raises(ValueError, match=r"model\.safetensors"):
        StandaloneEncoder.load(tmp_path)
