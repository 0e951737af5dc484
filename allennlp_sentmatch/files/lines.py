r"""Lines of data files.

A path is anything AllenNLP's `cached_path` takes: a file, a URL, or `archive!member` for a file
inside a zip or tar archive. Gzip-compressed files are read as they are. A byte order mark and
`\r\n` line ends are not part of the text.

Errors in a file's content raise `ValueError`, which names the file and the line.
"""

import codecs
import gzip
import io
import string
import zlib
from collections.abc import Iterator
from importlib.util import find_spec
from os import PathLike, fspath, path
from typing import BinaryIO, Callable, Optional, TypeVar, cast

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.messages import printable
from allennlp_sentmatch.files.row import Row, Source

T = TypeVar("T")

_BYTE_ORDER_MARKS = {
    # UTF-32's mark begins with UTF-16's.
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_WIDE = ("utf-16", "utf-32")

_SYNTAX = string.ascii_letters + string.digits + '\t\n\r ,:;"{}[]'
"""The characters that structure a file: ASCII bytes in all encodings except UTF-16 and UTF-32."""


def check_encoding(encoding: str) -> str:
    """Return `encoding` if files can be read in it.

    These are UTF-16, UTF-32 and all encodings in which ASCII's characters are ASCII's bytes. Raise
    `ValueError` for any other name.
    """
    try:
        name = codecs.lookup(encoding).name
        known = name.startswith(_WIDE) or (
            _SYNTAX.encode(encoding) == _SYNTAX.encode("ascii")
            and _SYNTAX.encode("ascii").decode(encoding) == _SYNTAX
        )
    # Codecs that are not text encodings (hex, undefined, idna) fail in their own ways.
    except (LookupError, ValueError, TypeError):
        known = False
    if not known:
        raise ValueError(
            f"encoding={encoding!r}: expected the name of a text encoding, such as 'utf-8', "
            "'latin-1' or 'windows-1252'"
        )
    return encoding


def local_path(file_path: AnyPath) -> str:
    """Return the path of a file or folder, once it is downloaded and extracted.

    Raise `FileNotFoundError` for a path that does not exist, and `ValueError` for any other
    unusable path, such as a damaged archive, or a pipe, which can be read only once.
    """
    if not isinstance(file_path, (str, PathLike)):
        raise ValueError(f"expected the path of a file or folder, got {file_path!r}")
    name = path.expanduser(fspath(file_path))
    if path.exists(name):
        local = name
    elif "://" in name or "!" in name:
        local = _fetched(file_path)
    else:
        raise FileNotFoundError(printable(f"file {name} not found"))
    if not path.isfile(local) and not path.isdir(local):
        raise ValueError(
            f"{Source(file_path)} is a pipe or a device, which cannot be read twice; write it to a "
            "file"
        )
    return local


def _fetched(file_path: AnyPath) -> str:
    """Return the path of a URL's content, or of a member of an archive, which AllenNLP caches.

    Raise `FileNotFoundError` if there is none, and `ValueError` if it cannot be opened or AllenNLP
    is not installed.
    """
    if find_spec("allennlp") is None:
        raise ValueError(
            f"{Source(file_path)} is a URL or in an archive, which only AllenNLP fetches; download "
            "or extract the file"
        )
    from allennlp.common.file_utils import cached_path

    try:
        return str(cached_path(file_path, extract_archive="!" in str(file_path)))
    except FileNotFoundError as error:
        raise FileNotFoundError(printable(str(error))) from None
    except Exception as error:  # each kind of archive has its own errors
        reason = printable(f"{type(error).__name__}: {error}")
        raise ValueError(
            f"{Source(file_path)} cannot be opened ({reason}); is the path right, and the "
            "file or archive whole?"
        ) from error


def read_lines(file_path: AnyPath, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield `(number, line)` for every line, counted from 1, with its line end.

    A byte order mark overrides `encoding`. Only line feeds end a line. The file is read as the
    lines are, so that it may be larger than the memory.

    Raise `ValueError`, with file and line, for a folder, for damaged gzip data, and for a line that
    is not in the encoding; `FileNotFoundError` for a path that does not exist.
    """
    local = local_path(file_path)
    if path.isdir(local):
        raise ValueError(
            f"{Source(file_path)} is a folder or an archive; expected a file (a file inside an "
            "archive is written archive!member)"
        )
    with open(local, "rb") as file:
        yield from stream_lines(file, file_path, encoding)


def stream_lines(
    file: BinaryIO,
    name: AnyPath,
    encoding: str = "utf-8",
    skip: Optional[Callable[[str], None]] = None,
) -> Iterator[tuple[int, str]]:
    """Yield the lines of an open file or pipe, as `read_lines` does; errors have its `name`.

    Raise `ValueError`, which names the line, if it is not in the `encoding`. With `skip`, which
    gets the message, the line is left out, except in UTF-16 and UTF-32, in which the next line
    cannot be found.
    """
    number = 0
    try:
        compressed = _peek(file)[:2] == b"\x1f\x8b"
        content = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if compressed else file
        beginning = _peek(content)
        marks = (code for mark, code in _BYTE_ORDER_MARKS.items() if beginning.startswith(mark))
        encoding = next(marks, encoding)
        for number, line in _decoded(content, name, encoding, skip):
            # In UTF-16 without a mark, every second byte of English text is null.
            if number == 1 and line.count("\0") * 4 > len(line):
                raise ValueError(
                    f"{Source(name, 1)}: null characters, so that the encoding is not {encoding}; "
                    "it may be UTF-16: convert the file to UTF-8, or name its encoding where the "
                    "reader has that setting"
                )
            yield number, line
        if number == 1 and "\r" in line.rstrip():
            raise ValueError(
                f"{Source(name, 1)}: carriage returns do not end a line, so that the file has a "
                "single line; replace them by line feeds, such as by `tr '\\r' '\\n'`"
            )
    except UnicodeError as error:
        raise ValueError(_not_in_encoding(name, number + 1, encoding, error)) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{Source(name)}: damaged gzip data after line {number} ({error})"
        ) from None


def _peek(file: BinaryIO) -> bytes:
    """Return the first four bytes of a newly opened file, without consuming them."""
    peek: Callable[[int], bytes] = file.peek  # type: ignore[attr-defined]
    return peek(4)[:4]


def _decoded(
    content: BinaryIO,
    name: AnyPath,
    encoding: str,
    skip: Optional[Callable[[str], None]],
) -> Iterator[tuple[int, str]]:
    """Yield the number, counted from 1, and the text of each line; see `stream_lines`."""
    if codecs.lookup(encoding).name.startswith(_WIDE):
        # In these encodings, a line feed has several bytes, which also occur in other characters.
        # So lines are decoded in pieces, and an error may be some lines further down.
        with io.TextIOWrapper(content, encoding, newline="\n") as lines:
            yield from enumerate(lines, start=1)
        return
    for number, line in enumerate(content, start=1):
        # Decode line by line, so that an error names its line. Only the first line has the mark.
        has_no_mark = number > 1 and encoding == "utf-8-sig"
        try:
            decoded = line.decode("utf-8" if has_no_mark else encoding)
        except UnicodeError as error:
            if skip is None:
                raise
            skip(_not_in_encoding(name, number, encoding, error))
        else:
            yield number, decoded


def _not_in_encoding(name: AnyPath, number: int, encoding: str, error: UnicodeError) -> str:
    """Return the message for a line that cannot be decoded."""
    return (
        f"{Source(name, number)}: not {encoding} ({error}); convert the file, or name its encoding "
        "where the reader has that setting"
    )


def not_empty(rows: Iterator[T], file_path: AnyPath) -> Iterator[T]:
    """Yield the `rows` of a file; at the end, raise `ValueError` if there were none."""
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise ValueError(
            f"{Source(file_path)} is empty: there is no row to read (the first line of a table is "
            "its header)"
        )


def filled_lines(file_path: AnyPath, encoding: str = "utf-8") -> Iterator[tuple[Source, str]]:
    """Yield the place of each line that is not blank, and its text without the line end.

    Raise `ValueError` if there is none; see `read_lines` for the other errors.
    """
    lines = (
        (Source(file_path, number), line.rstrip("\r\n"))
        for number, line in read_lines(file_path, encoding)
        if line.strip()
    )
    return not_empty(lines, file_path)


def first_line(file_path: AnyPath, encoding: str = "utf-8") -> str:
    """Return the first line that is not blank, which tells formats apart.

    Raise `ValueError` if there is none.
    """
    return next(filled_lines(file_path, encoding))[1]


def text_rows(file_path: AnyPath, encoding: str = "utf-8") -> Iterator[Row]:
    """Yield a row for each line that is not blank, with the line as its column "text".

    Raise `ValueError` if there is none.
    """
    return (Row(source, {"text": line}) for source, line in filled_lines(file_path, encoding))
