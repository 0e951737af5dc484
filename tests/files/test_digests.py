"""Digests identify sentences and folders, however they are read."""

import hashlib
import os

import pytest

from allennlp_sentmatch.files.digests import (
    SentencesDigest,
    ending,
    ending_digest,
    files_digest,
    sentences_digest,
)


def test_the_digest_of_sentences_in_any_pieces():
    sentences = [f"é\ud800{number}" * (number % 5) for number in range(20_000)]
    expected = sentences_digest(iter(sentences))
    assert expected.num_sentences == 20_000
    digest = SentencesDigest()
    for start, stop in ((0, 1), (1, 1), (1, 9_000), (9_000, 20_000)):
        digest.update(sentences[start:stop])
    assert digest.hexdigest() == expected.hexdigest()
    lengths = b"".join(len(sentence).to_bytes(8, "little") for sentence in sentences)
    text = "".join(sentences).encode("utf-8", "surrogatepass")
    parts = [hashlib.sha256(part).digest() for part in (lengths, text)]
    assert digest.hexdigest() == hashlib.sha256(b"".join(parts)).hexdigest()


def test_the_digest_of_folders(tmp_path):
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "a").write_text("1")
    (folder / "inner" / "b").write_text("2")
    digests = [files_digest(folder)]
    for change in (
        lambda: (folder / "inner" / "b").write_text("3"),
        lambda: (folder / "inner" / "b").rename(folder / "inner" / "c"),
        lambda: (folder / "inner" / "c").rename(folder / "c"),
        (folder / "c").unlink,
    ):
        change()
        digests.append(files_digest(folder))
    digests += [files_digest(folder / "a"), files_digest(folder / "a", folder / "a")]
    assert len(set(digests)) == len(digests)
    os.mkfifo(folder / "pipe")  # nobody writes to this pipe
    files_digest(folder)
    with pytest.raises(FileNotFoundError, match="nothing"):
        files_digest(tmp_path / "nothing")


def test_the_end_of_a_file(tmp_path):
    path = tmp_path / "file"
    digest = sentences_digest(["a"]).hexdigest()
    for content, expected in [
        (b"", None),
        (b"content", None),
        (b"x" * 500, None),
        (b"content" + ending(digest), digest),
        (ending(digest), digest),
        (ending(digest)[:-1], digest[:-1]),
        (ending(digest) + ending("0" * 64), digest),
        (b"content" * 50 + ending(digest) + ending("0" * 64), digest),
        (ending(digest) + b"x" * 500, None),
    ]:
        path.write_bytes(content)
        assert ending_digest(path) == expected
