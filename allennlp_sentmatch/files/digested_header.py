"""The JSON header of a folder, with the SHA-256 of the folder's files and of itself.

The policy is the same for encoders, estimators and indexes: a file that is not as it was written is
refused. A header without digests is from an earlier version. It is read although damage cannot be
detected, and the log says so.
"""

import json
import logging
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from allennlp_sentmatch.files.folders import is_outside, parsed_json_object, read_file

logger = logging.getLogger(__name__)

DIGESTS = "sha256"  # this setting has the digests by file name; the header's own digest is the last

_PLACE = "0" * 64  # placeholder while the header's own digest is unknown
_DIGEST = re.compile("[0-9a-f]{64}")


def write_header(path: Path, header: dict[str, Any], files: Iterable[str]) -> None:
    """Write a header, a JSON object, with the digests of the existing `files` of its folder.

    The `files` are paths relative to the header's folder. The digest of the header itself is
    computed with a placeholder in its place.
    """
    digests = {}
    for name in files:
        content = (path.parent / name).read_bytes()
        digests[name] = sha256(content).hexdigest()
    digests[path.name] = _PLACE
    text = json.dumps({**header, DIGESTS: digests}, indent=1, ensure_ascii=False) + "\n"
    own = sha256(text.encode()).hexdigest()
    before, _, after = text.rpartition(_PLACE)
    path.write_text(before + own + after, "utf-8")


def read_header(path: Path) -> dict[str, Any]:
    """Read a header, compare it and its files with its digests, and return it without them.

    Raise `ValueError`, which names the file, for a file that has changed, for one outside of the
    folder, and for anything but an object; `FileNotFoundError` for a missing file. A warning is
    logged for a header without digests.
    """
    content = read_file(path)
    header = parsed_json_object(path, content)
    if DIGESTS not in header:
        logger.warning("%s has no digests of its files: nothing tells if they are damaged", path)
        return header
    digests = header.pop(DIGESTS)
    if not isinstance(digests, dict) or not all(map(_is_digest, digests.values())):
        raise ValueError(f"{path}: {DIGESTS} must be an object of digests, 64 hexadecimal digits")
    for name in digests:
        if is_outside(name):
            raise ValueError(f"{path}: the file {name!r:.100} is not in this folder")
    if not _has_digest(content, digests.pop(path.name, _PLACE)):
        raise _damage(path)
    for name, digest in digests.items():
        if sha256(read_file(path.parent / name)).hexdigest() != digest:
            raise _damage(path.parent / name)
    return header


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _has_digest(header: bytes, digest: str) -> bool:
    """Return whether a header, with the placeholder instead of its own digest, has this digest."""
    before, _, after = header.rpartition(digest.encode())
    return sha256(before + _PLACE.encode() + after).hexdigest() == digest


def _damage(path: Path) -> ValueError:
    """Return the error for a file that differs from its digest."""
    return ValueError(
        f"{path} is not as it was written: its SHA-256 is another; copy the folder again, or make "
        "it again"
    )
