"""Tests of encoding a corpus: order, duplicates, interruption, refusals."""

import errno
import os
import shutil

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import encode_corpus
from allennlp_sentmatch.data.files.vectors import check_sentences

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

    def encode_blocks(self, blocks, batch_size):
        return (self.encode(block, batch_size, show_progress=False) for block in blocks)


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
    check_sentences(SENTENCES, tmp_path / "v.npy")
    with pytest.raises(ConfigurationError, match=r"v\.npy was made from other sentences"):
        check_sentences(SENTENCES[::-1], tmp_path / "v.npy")


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


def flipped(position):
    """Changes a bit."""

    def change(content):
        changed = bytearray(content)
        changed[position] ^= 1
        return bytes(changed)

    return change


def shortened(length):
    return lambda content: (content + b"?")[:length]


STARTS_AGAIN = "vectors.npy is missing or damaged: encoding starts again"


@pytest.fixture
def folder(tmp_path):
    """The work of a run that was interrupted after four blocks."""
    with pytest.raises(KeyboardInterrupt):
        encode(FakeEncoder(dies_at=28), tmp_path / "v.npy")
    assert numpy.load(tmp_path / "v.npy.partial" / "vectors.npy")[20].any()
    assert (tmp_path / "v.npy.partial" / "digests").stat().st_size == 4 * 32
    return tmp_path / "v.npy.partial"


@pytest.mark.parametrize(
    ("name", "change", "encoded_again", "log"),
    [
        ("digests", bytes, 0, ""),
        # The block of a vector is encoded again, and no other.
        ("vectors.npy", flipped(128), 7, "damaged: rows 0 to 6 "),
        ("vectors.npy", flipped(128 + 8 * 6), 7, "damaged: rows 0 to 6 "),
        ("vectors.npy", flipped(128 + 8 * 7), 7, "damaged: rows 7 to 13 "),
        ("vectors.npy", flipped(128 + 8 * 20), 7, "damaged: rows 14 to 20 "),
        *(("vectors.npy", shortened(length), 28, STARTS_AGAIN) for length in (0, 20, 130, -2)),
        # Bytes that are not of a vector.
        *(("vectors.npy", flipped(at), 28, STARTS_AGAIN) for at in (1, 50, 126, -1, -70)),
        ("vectors.npy", None, 28, STARTS_AGAIN),
        ("digests", flipped(33), 7, "damaged: rows 7 to 13 "),
        *(
            ("digests", shortened(length), 28 - length // 32 * 7, "")
            for length in (0, 31, 32, 127, 129)
        ),
        ("seen.sqlite", None, 0, ""),
        ("seen.sqlite", lambda content: b"not a database" * 100, 0, ""),
    ],
)
def test_a_damaged_file_of_an_interrupted_run(
    folder, tmp_path, caplog, name, change, encoded_again, log
):
    """What it had is encoded again, and all bytes are right."""
    content = (folder / name).read_bytes()
    (folder / name).unlink()
    if change is not None:
        (folder / name).write_bytes(change(content))
    encoder = FakeEncoder()
    encode(encoder, tmp_path / "v.npy")
    encode(FakeEncoder(), tmp_path / "whole.npy")
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert len(encoder.encoded) == len(set(SENTENCES)) - 28 + encoded_again
    assert log in caplog.text
    assert bool(log) == bool(caplog.records)


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_damaged_settings(folder, tmp_path, content):
    """Without settings, such as in earlier versions, it is not known whose vectors there are."""
    (folder / "settings.json").unlink()
    if content is not None:
        (folder / "settings.json").write_bytes(content)
    problem = "missing" if content is None else "damaged: "
    with pytest.raises(
        ConfigurationError, match=rf"settings\.json is {problem}.*delete the folder"
    ):
        encode(FakeEncoder(), tmp_path / "v.npy")


def test_a_run_that_died_while_it_wrote_its_settings(tmp_path):
    (tmp_path / "v.npy.partial").mkdir()
    (tmp_path / "v.npy.partial" / "settings.json.partial").write_text("{")
    encode(FakeEncoder(), tmp_path / "v.npy")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "v.npy"), expected())


@pytest.mark.parametrize("change", ["an edit", "fewer"])
def test_sentences_that_change_meanwhile(tmp_path, change):
    later = SENTENCES[:-1] if change == "fewer" else [*SENTENCES[:30], "?", *SENTENCES[31:]]
    corpora = iter([SENTENCES, later])
    with pytest.raises(ConfigurationError, match=r"were changed while .* delete the folder"):
        encode_corpus(
            FakeEncoder(), lambda: iter(next(corpora)), tmp_path / "v.npy", show_progress=False
        )
    assert not (tmp_path / "v.npy").exists()


def test_an_edit_that_is_taken_back_after_an_interruption(tmp_path):
    """What was encoded in between is not kept."""
    corpora = iter([SENTENCES, ["edited", *SENTENCES[1:3], SENTENCES[1], *SENTENCES[4:]]])
    with pytest.raises(KeyboardInterrupt):
        encode_corpus(
            FakeEncoder(dies_at=20), lambda: iter(next(corpora)), tmp_path / "v.npy",
            block_size=7, show_progress=False,
        )  # fmt: skip
    encode(FakeEncoder(), tmp_path / "v.npy")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "v.npy"), expected())


def test_a_damaged_page_of_the_database(tmp_path):
    """It is named, and the same call goes on."""
    folder = tmp_path / "v.npy.partial"

    class Damaging(FakeEncoder):
        def encode(self, *arguments, **options):
            vectors = super().encode(*arguments, **options)
            if len(self.encoded) > 20_000:
                content = (folder / "seen.sqlite").read_bytes()
                (folder / "seen.sqlite").write_bytes(b"?" * len(content))
            return vectors

    many = [f"{number}" for number in range(90_000)]
    with pytest.raises(ConfigurationError, match=r"seen\.sqlite cannot be .* the same command"):
        encode(Damaging(), tmp_path / "v.npy", many, block_size=8192)
    second = FakeEncoder()
    encode(second, tmp_path / "v.npy", many, block_size=8192)
    assert len(second.encoded) < 90_000 - 8192
    expected = [[len(sentence), sum(sentence.encode())] for sentence in many]
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "v.npy"), expected)


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
