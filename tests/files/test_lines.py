"""Lines are read in their encoding and compression, and damage is named."""

import gzip
import io
import tarfile
import zipfile

import pytest

from allennlp_sentmatch.files.lines import check_encoding, read_lines, text_rows


def zipped(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", content)
    return file.getvalue()


def tarred(content):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "encoding", "expected"),
    [
        # Line ends, a mark and blank lines are not part of the text.
        (b"\xef\xbb\xbfone\r\n\n  \ntwo\tx \r\nfour", "utf-8", {1: "one", 4: "two\tx ", 5: "four"}),
        # Only line feeds end a line.
        ("a\u2028b\x85c\x0bd\x1ce\n", "utf-8", {1: "a\u2028b\x85c\x0bd\x1ce"}),
        ("café \u2013 €\n".encode("windows-1252"), "windows-1252", {1: "café \u2013 €"}),
        # A mark in a later line is text.
        ("one\n\ufefftwo\n", "utf-8", {1: "one", 2: "\ufefftwo"}),
        ("\ufeffone\n\ufefftwo\n", "utf-8", {1: "one", 2: "\ufefftwo"}),
        # Null characters in a later line, too
        ("one\n\0two\n\0\n", "utf-8", {1: "one", 2: "\0two", 3: "\0"}),
    ],
)
def test_text_rows(write, content, encoding, expected):
    rows = text_rows(write(content), encoding)
    assert {row.source.line: row.values["text"] for row in rows} == expected


def test_gzip_is_seen_from_the_content_and_an_archive_from_its_name(write):
    text = "één\ntwee\n".encode()
    gzipped = [write(gzip.compress(text), name) for name in ("data.txt.gz", "data")]
    archived = [f"{write(make(text), make.__name__)}!a.txt" for make in (zipped, tarred)]
    for path in (*gzipped, *archived):
        assert list(read_lines(path)) == [(1, "één\n"), (2, "twee\n")]


@pytest.mark.parametrize("marked", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252", "utf-16"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_byte_order_mark_decides_the_encoding(write, marked, encoding, compress):
    # U+0A0A has the byte of a line feed twice.
    path = write(compress("één\r\n\u0a0a\ndrie".encode(marked)))
    assert list(read_lines(path, encoding)) == [(1, "één\r\n"), (2, "\u0a0a\n"), (3, "drie")]


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_without_a_mark(write, order):
    path = write("one\ntwo\n".encode(f"utf-16-{order}"))
    assert list(read_lines(path, f"utf-16-{order}")) == [(1, "one\n"), (2, "two\n")]
    for encoding in ("utf-8", "windows-1252", "latin-1"):
        with pytest.raises(ValueError, match=r"data\.txt, line 1: null .*may be UTF-16"):
            list(read_lines(path, encoding))


# The ids keep gzip's time stamp out of the test's name, which pytest's processes compare.
@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"good\n" * 5000 + b"caf\xe9\n" + b"good\n", "utf-8", ", line 5001: not utf-8"),
        (b"caf\xe9\n", "utf-8", ", line 1: not utf-8"),
        (b"caf\xe9\n", "utf-16-le", ", line 1: not utf-16-le"),
        ("one\ntwo\n".encode("utf-16") + b"\x00", "utf-8", r", line \d: not utf-16"),
        (b"one\rtwo\r", "utf-8", ", line 1: carriage returns .* replace them by line feeds"),
        (b"one\rtwo\n", "utf-8", ", line 1: carriage returns"),
        (gzip.compress(b"line\n" * 5000, mtime=0)[:-20], "utf-8", ": damaged gzip data after line"),
        *(
            (x, "utf-8", " is empty")
            for x in (b"", b"\n \n", gzip.compress(b"", mtime=0), b"\xef\xbb\xbf")
        ),
    ],
    ids=["late", "first", "wide", "half", "mac", "mixed", "cut", "empty", "blank", "gzip", "mark"],
)
def test_unreadable_content(write, content, encoding, message):
    with pytest.raises(ValueError, match=r"data\.txt" + message):
        list(text_rows(write(content), encoding))


def test_a_folder_and_a_missing_file(tmp_path, write):
    with pytest.raises(ValueError, match="is a folder"):
        list(text_rows(tmp_path))
    with pytest.raises(FileNotFoundError, match="missing"):
        list(text_rows(tmp_path / "missing"))
    with pytest.raises(FileNotFoundError, match=r"'b\.txt' not found within .*data\.zip"):
        list(read_lines(f"{write(zipped(b'a'), 'data.zip')}!b.txt"))


@pytest.mark.parametrize("make", [zipped, tarred])
def test_a_damaged_archive(write, make):
    whole = make(bytes(range(256)) * 20)
    assert len(whole) > 200
    for name, damaged in [
        ("cut", whole[: len(whole) // 2]),
        ("changed", whole[:80] + bytes(60) + whole[140:]),
        ("text", b"no archive\n"),
    ]:
        path = write(damaged, f"{name}.archive")
        with pytest.raises(ValueError, match=rf"{name}\.archive!a\.txt cannot be opened"):
            list(read_lines(f"{path}!a.txt"))


@pytest.mark.parametrize("name", ["a\0b", "a" * 5000, "\ud800", "nowhere://a"])
def test_an_impossible_path(name):
    with pytest.raises((ValueError, FileNotFoundError)) as error:
        list(read_lines(name))
    assert str(error.value).encode()


def test_encodings_of_text():
    for encoding in ("utf-8", "latin-1", "windows-1252", "ascii", "shift_jis", "gb18030"):
        assert check_encoding(encoding) == encoding
    for encoding in ("utf-16-le", "UTF-32"):
        assert check_encoding(encoding) == encoding
    others = ["utf-9", "", "\0", "hex", "base64", "zlib", "rot13", "undefined", "punycode", "idna"]
    # Line feeds are other bytes in the first, and escaped in the second.
    for encoding in [*others, "cp037", "unicode_escape"]:
        with pytest.raises(ValueError, match=r"encoding=.*expected the name of a text"):
            check_encoding(encoding)
