"""Tests of encoding a corpus: order, duplicates, interruption, refusals."""

import errno
import os
import shutil
import sqlite3

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import encode_corpus

WORDS = ["a", "bb", "ccc", "dddd", "eeeee"]
SENTENCES = [" ".join(WORDS[: 1 + i % 5]) + f" {i % 13}" for i in range(40)] + ["", "a 0"]


class FakeEncoder:
    """Encodes a sentence as its length and its bytes' sum, and can be made to die."""

    def __init__(self, dies_at=None):
        self.encoded = []
        self.dies_at = dies_at

    vector_size = 2

    def encode(self, sentences, batch_size=128, show_progress=True):
        assert not show_progress
        if self.dies_at is not None and len(self.encoded) >= self.dies_at:
            raise KeyboardInterrupt
        self.encoded.extend(sentences)
        rows = [[len(s), sum(s.encode())] for s in sentences]
        return numpy.array(rows, dtype=numpy.float32).reshape(-1, 2)


def expected():
    return numpy.array([[len(s), sum(s.encode())] for s in SENTENCES], dtype=numpy.float32)


def encode(encoder, output, sentences=SENTENCES, **settings):
    encode_corpus(
        encoder, lambda: iter(sentences), output, show_progress=False,
        **{"block_size": 7, **settings},
    )  # fmt: skip


def test_vectors_are_in_order_and_duplicates_are_encoded_once(tmp_path):
    encoder = FakeEncoder()
    encode(encoder, tmp_path / "v.npy")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "v.npy", mmap_mode="r"), expected())
    assert sorted(encoder.encoded) == sorted(set(SENTENCES))
    assert [path.name for path in tmp_path.iterdir()] == ["v.npy"]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    encode(FakeEncoder(), tmp_path / "whole.npy")
    first = FakeEncoder(dies_at=14)
    with pytest.raises(KeyboardInterrupt):
        encode(first, tmp_path / "v.npy")
    assert not (tmp_path / "v.npy").exists()
    assert 14 <= len(first.encoded) < len(set(SENTENCES))
    second = FakeEncoder()
    encode(second, tmp_path / "v.npy")
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert sorted(first.encoded + second.encoded) == sorted(set(SENTENCES))


def test_an_existing_file_is_not_overwritten(tmp_path):
    (tmp_path / "v.npy").write_text("mine")
    with pytest.raises(ConfigurationError, match="exists already"):
        encode(FakeEncoder(), tmp_path / "v.npy")
    assert (tmp_path / "v.npy").read_text() == "mine"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sentences": SENTENCES[:-1]}, "'sentences'"),
        ({"fingerprint": "another"}, "'encoder'"),
        ({"batch_size": 3}, "'batch_size'"),
        ({"block_size": 8}, "'block_size'"),
    ],
)
def test_a_run_is_not_resumed_with_other_settings(tmp_path, changed, message):
    with pytest.raises(KeyboardInterrupt):
        encode(FakeEncoder(dies_at=7), tmp_path / "v.npy")
    with pytest.raises(ConfigurationError, match=message):
        encode(FakeEncoder(), tmp_path / "v.npy", **changed)


def test_sizes_must_be_positive(tmp_path):
    with pytest.raises(ConfigurationError, match="block_size must be at least 1, got 0"):
        encode(FakeEncoder(), tmp_path / "v.npy", block_size=0)


def test_an_empty_corpus_gives_an_empty_array(tmp_path):
    encode(FakeEncoder(), tmp_path / "v.npy", sentences=[])
    assert numpy.load(tmp_path / "v.npy").shape == (0, 2)


def test_two_processes_cannot_write_the_same_file(tmp_path):
    """The lock is taken again after each block."""

    attempts = []

    class Second(FakeEncoder):
        def encode(self, *arguments, **options):
            if len(self.encoded) == 21:
                with pytest.raises(ConfigurationError, match="another process is writing"):
                    encode(FakeEncoder(), tmp_path / "v.npy")
                attempts.append(self)
            return super().encode(*arguments, **options)

    encode(Second(), tmp_path / "v.npy")
    assert len(attempts) == 1
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "v.npy"), expected())


class TestOfDamage:
    """After an interruption."""

    @pytest.fixture
    def folder(self, tmp_path):
        with pytest.raises(KeyboardInterrupt):
            encode(FakeEncoder(dies_at=14), tmp_path / "v.npy")
        return tmp_path / "v.npy.partial"

    @pytest.mark.parametrize("keep", [0, 20, 130, -1])
    def test_shortened_vectors(self, folder, tmp_path, keep):
        content = (folder / "vectors.npy").read_bytes()
        (folder / "vectors.npy").write_bytes(content[:keep])
        with pytest.raises(
            ConfigurationError, match=r"vectors\.npy is damaged: .*delete the folder"
        ):
            encode(FakeEncoder(), tmp_path / "v.npy")
        assert not (tmp_path / "v.npy").exists()

    def test_vectors_of_another_shape(self, folder, tmp_path):
        numpy.save(folder / "vectors.npy", numpy.zeros((len(SENTENCES), 3), numpy.float32))
        with pytest.raises(
            ConfigurationError, match=r"holds float32 \(42, 3\), not float32 \(42, 2\)"
        ):
            encode(FakeEncoder(), tmp_path / "v.npy")

    def test_missing_vectors(self, folder, tmp_path):
        (folder / "vectors.npy").unlink()
        with pytest.raises(ConfigurationError, match=r"vectors\.npy cannot be .*No such file"):
            encode(FakeEncoder(), tmp_path / "v.npy")

    def test_a_database_of_other_bytes(self, folder, tmp_path):
        (folder / "progress.sqlite").write_bytes(b"not a database" * 100)
        with pytest.raises(
            ConfigurationError, match=r"progress\.sqlite is damaged: .*not a database"
        ):
            encode(FakeEncoder(), tmp_path / "v.npy")
        assert not (tmp_path / "v.npy").exists()

    @pytest.mark.parametrize("change", ["SET done = 43", "SET done = -1", "SET done = 'all'"])
    def test_a_wrong_count(self, folder, tmp_path, change):
        with sqlite3.connect(folder / "progress.sqlite") as database:
            database.execute(f"UPDATE progress {change}")
        database.close()
        with pytest.raises(ConfigurationError, match=r"progress\.sqlite is damaged: it counts"):
            encode(FakeEncoder(), tmp_path / "v.npy")


def test_a_folder_that_vanishes(tmp_path):
    class Vanishing(FakeEncoder):
        def encode(self, *arguments, **options):
            shutil.rmtree(tmp_path / "v.npy.partial")
            return super().encode(*arguments, **options)

    with pytest.raises(ConfigurationError, match=r"vectors\.npy cannot be written: No such file"):
        encode(Vanishing(), tmp_path / "v.npy")
    assert not (tmp_path / "v.npy").exists()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=r"v\.npy\.partial cannot be written: Not a dir"):
        encode(FakeEncoder(), tmp_path / "file" / "v.npy")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_full_disk(tmp_path, monkeypatch, number):
    """The work so far is kept, and the same call goes on with it."""
    encode(FakeEncoder(), tmp_path / "whole.npy")
    calls = []

    def fsync(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", fsync)
    with pytest.raises(ConfigurationError, match=f"vectors.npy cannot .*{os.strerror(number)}"):
        encode(FakeEncoder(), tmp_path / "v.npy")
    assert not (tmp_path / "v.npy").exists()
    encode(FakeEncoder(), tmp_path / "v.npy")
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
