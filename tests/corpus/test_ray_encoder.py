"""Tests of encoding over Ray Data."""

import builtins

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import RayEncoder, encode_corpus, ray_encoder
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


class PretendedRay:
    """Notes how it is started."""

    def __init__(self, calls=()):
        self.calls = list(calls)

    def is_initialized(self):
        return bool(self.calls)

    def init(self, address, **options):
        self.calls.append((address, options))


@pytest.mark.parametrize(
    ("address", "variable", "expected"),
    [
        (None, None, ("local", {"num_cpus": 6})),
        (None, "head:6379", ("head:6379", {})),
        ("other:6379", "head:6379", ("other:6379", {})),
    ],
)
def test_the_cluster(small_archive, monkeypatch, address, variable, expected):
    if variable is None:
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
    else:
        monkeypatch.setenv("RAY_ADDRESS", variable)
    ray = PretendedRay()
    monkeypatch.setattr(ray_encoder, "_ray", lambda: ray)
    for _ in range(2):  # the second encoder finds it started
        RayEncoder(small_archive, address=address, num_workers=3, num_threads=2)
    address, options = expected
    quiet = {"log_to_driver": False, "include_dashboard": False}
    assert ray.calls == [(address, {**quiet, **options})]


def test_a_worker_encodes_without_a_progress_bar(small_archive, monkeypatch, capsys):
    num_threads, chosen = [], []
    encoder = SentenceEncoder.from_archive(small_archive)
    monkeypatch.setattr(torch, "set_num_threads", num_threads.append)
    monkeypatch.setattr(
        SentenceEncoder, "from_archive", lambda *arguments: chosen.append(arguments) or encoder
    )
    for device in (-1, 0, 3):  # Ray shows it one GPU, which is number 0
        worker = ray_encoder._Worker("model.tar.gz", device, 2, True, "{}", False)
    assert num_threads == [2, 2, 2]
    assert chosen == [("model.tar.gz", device, True, "{}", False) for device in (-1, 0, 0)]
    vectors = worker({"sentence": numpy.array(SENTENCES[:5])}, batch_size=2)["vectors"]
    assert capsys.readouterr() == ("", "")
    numpy.testing.assert_array_equal(vectors, encoder.encode(SENTENCES[:5], 2))


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
