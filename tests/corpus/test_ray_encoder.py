"""Tests of encoding over Ray Data."""

import builtins

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import RayEncoder, encode_corpus
from allennlp_sentmatch.predictors import SentenceEncoder

WORDS = ["a", "man", "is", "asleep", "two", "dogs", "run", "in", "the", "park"]
SENTENCES = [" ".join(WORDS[i % 7 : i % 7 + 1 + i % 5]) + " ." * (i % 3) for i in range(60)] + [""]
SENTENCES += SENTENCES[:50]  # so that there are blocks, and a window of them, with nothing new


def test_ray_and_this_process_give_the_same_bytes(small_archive, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    settings = {"batch_size": 4, "block_size": 20, "show_progress": False}
    encode_corpus(
        SentenceEncoder.from_archive(small_archive),
        lambda: iter(SENTENCES),
        tmp_path / "local.npy",
        **settings,
    )
    try:
        encode_corpus(
            RayEncoder(small_archive, num_workers=2, num_threads=1),
            lambda: iter(SENTENCES),
            tmp_path / "ray.npy",
            blocks_at_once=2,
            **settings,
        )
    finally:
        ray.shutdown()
    vectors = numpy.load(tmp_path / "ray.npy")
    assert numpy.unique(vectors, axis=0).shape[0] > 30
    assert (tmp_path / "ray.npy").read_bytes() == (tmp_path / "local.npy").read_bytes()


def test_numbers_must_be_positive(small_archive):
    with pytest.raises(ConfigurationError, match="num_workers must be at least 1, got 0"):
        RayEncoder(small_archive, num_workers=0)


def test_without_ray_the_extra_is_named(small_archive, monkeypatch):
    imported = builtins.__import__

    def without_ray(name, *arguments, **keywords):
        if name.split(".")[0] == "ray":
            raise ImportError(name)
        return imported(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    with pytest.raises(ConfigurationError, match=r'\[ray\]: pip install "ray'):
        RayEncoder(small_archive)
