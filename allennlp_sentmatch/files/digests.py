"""Digests of inputs, stored with the outputs, which are only used for the same inputs."""

import hashlib
import os
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO, Optional

from allennlp_sentmatch.files.blocks import blocks_of
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.lines import local_path

MARK = b"\nallennlp_sentmatch sha256 "
"""The mark before a digest at the end of a file."""

DIGEST_LENGTH = 64
ENDING_LENGTH = len(MARK) + DIGEST_LENGTH


class SentencesDigest:
    """The SHA-256 of sentences in their order, computed over their lengths and their texts.

    So sentences cannot be divided in another way without changing it. Lone surrogates count as
    characters.
    """

    def __init__(self) -> None:
        self.num_sentences = 0
        self._lengths = hashlib.sha256()
        self._texts = hashlib.sha256()

    def update(self, sentences: Sequence[str]) -> None:
        """Add sentences; thousands at once take less time than one by one."""
        self.num_sentences += len(sentences)
        self._lengths.update(array("Q", map(len, sentences)))
        self._texts.update("".join(sentences).encode("utf-8", "surrogatepass"))

    def hexdigest(self) -> str:
        """Return 64 hexadecimal digits for the sentences so far; more may be added."""
        return hashlib.sha256(self._lengths.digest() + self._texts.digest()).hexdigest()


def sentences_digest(sentences: Iterable[str]) -> SentencesDigest:
    """Return the digest of sentences that need not be in memory; they are read once."""
    digest = SentencesDigest()
    for block in blocks_of(sentences, 8192):
        digest.update(block)
    return digest


def files_digest(*paths: AnyPath) -> str:
    """Return the SHA-256 of files and folders, 64 hexadecimal digits.

    A folder's digest includes the names of its files, at any depth, but not its own name. Raise
    `FileNotFoundError` for a path that does not exist.
    """
    contents = b"".join(_content_digest(Path(local_path(path))) for path in paths)
    return hashlib.sha256(contents).hexdigest()


def _content_digest(path: Path) -> bytes:
    """Return the SHA-256 (32 bytes) of a file, or of the names and contents in a folder."""
    digest = hashlib.sha256()
    if path.is_dir():
        for name in sorted(os.listdir(path)):
            digest.update(os.fsencode(name) + b"\0" + _content_digest(path / name))
    elif path.is_file():
        with open(path, "rb") as file:
            digest.update(bytes.fromhex(content_digest(file)))
    return digest.digest()


def content_digest(file: BinaryIO, without: int = 0) -> str:
    """Return the SHA-256 of an open file `without` its last bytes, 64 hexadecimal digits.

    The file's position is before these bytes then.
    """
    rest = file.seek(0, os.SEEK_END) - without
    file.seek(0)
    digest = hashlib.sha256()
    while rest > 0 and (piece := file.read(min(rest, 1 << 20))):
        digest.update(piece)
        rest -= len(piece)
    return digest.hexdigest()


def ending(digest: str) -> bytes:
    """Return the end of a file with a digest, which readers of `.npy` files and FAISS ignore."""
    return MARK + digest.encode("ascii")


def ending_digest(path: AnyPath) -> Optional[str]:
    """Return the digest at the end of a file, or the first of two; `None` without one.

    If it is damaged, it may have any characters. Raise `FileNotFoundError` if there is no file.
    """
    _, mark, digest = _two_endings(path).partition(MARK)
    return digest[:DIGEST_LENGTH].decode("latin-1") if mark else None


def first_digest(path: AnyPath) -> Optional[str]:
    """Return the first of two digests at the end of a file; `None` if there are not two."""
    digests = _two_endings(path).split(MARK)[1:]
    return digests[0].decode("latin-1") if len(digests) == 2 else None


def is_damaged(path: AnyPath) -> bool:
    """Return whether a file with two digests has changed; the second one covers all before it."""
    return _two_endings(path).count(MARK) == 2 and not is_whole(Path(local_path(path)))


def _two_endings(path: AnyPath) -> bytes:
    """Return the last bytes of a file, as many as two digests with their marks have."""
    with open(local_path(path), "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 2 * ENDING_LENGTH))
        return file.read()


def is_whole(path: Path) -> bool:
    """Return whether a file exists and ends with the digest of its content; see `save_array`."""
    if not path.exists():
        return False
    with open(path, "rb") as file:
        digest = content_digest(file, without=ENDING_LENGTH)
        return file.read() == ending(digest)
