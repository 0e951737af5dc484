import gzip
import io
import tarfile
import zipfile

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.lines import check_encoding, read_lines, text_rows


def values(rows):
    return [row.values for row in rows]


def test_line_ends_byte_order_mark_and_blank_lines_are_no_text(write):
    path = write(b"\xef\xbb\xbfone\r\n\n  \ntwo\tthree \r\nfour")
    found = list(text_rows(path))
    assert [(row.source.line, row.values["text"]) for row in found] == [
        (1, "one"),
        (4, "two\tthree "),
        (5, "four"),
    ]


def test_only_line_feeds_end_a_line(write):
    text = "a\u2028b\x85c\x0bd\x1ce"
    assert values(text_rows(write(text + "\n"))) == [{"text": text}]


def test_encodings(write):
    path = write("café \u2013 €\n".encode("windows-1252"))
    assert values(text_rows(path, "windows-1252")) == [{"text": "café \u2013 €"}]


@pytest.mark.parametrize("name", ["data.txt.gz", "data"])
def test_gzip_is_seen_from_the_content(write, name):
    path = write(gzip.compress("één\ntwee\n".encode()), name)
    assert values(text_rows(path)) == [{"text": "één"}, {"text": "twee"}]


def test_a_member_of_an_archive(tmp_path):
    archive = tmp_path / "data.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("folder/a.txt")
        member.size = 4
        tar.addfile(member, io.BytesIO(b"abc\n"))
    assert values(text_rows(f"{archive}!folder/a.txt")) == [{"text": "abc"}]


def test_undecodable_text_names_file_line_and_encoding(write):
    path = write(b"good\n" * 5000 + b"caf\xe9\n" + b"good\n" * 5000)
    with pytest.raises(ConfigurationError, match=r"data\.txt, line 5001: not utf-8"):
        list(text_rows(path))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_undecodable_text_in_the_first_line(write, encoding):
    path = write(b"caf\xe9\n")
    with pytest.raises(ConfigurationError, match=rf"data\.txt, line 1: not {encoding}"):
        list(text_rows(path, encoding))


def test_damaged_gzip_names_the_file(write):
    path = write(gzip.compress(b"line\n" * 5000)[:-20])
    with pytest.raises(ConfigurationError, match=r"data\.txt: damaged gzip data after line"):
        list(text_rows(path))


# The ids keep gzip's time stamp out of the test's name, which pytest's processes compare.
@pytest.mark.parametrize(
    "content",
    [b"", b"\n \n", gzip.compress(b""), b"\xef\xbb\xbf"],
    ids=["empty", "blank", "gzip", "mark"],
)
def test_an_empty_file_is_an_error(write, content):
    with pytest.raises(ConfigurationError, match=r"data\.txt is empty"):
        list(text_rows(write(content)))


def test_a_folder_and_a_missing_file(tmp_path):
    with pytest.raises(ConfigurationError, match="is a folder"):
        list(text_rows(tmp_path))
    with pytest.raises(FileNotFoundError, match="missing"):
        list(text_rows(tmp_path / "missing"))


@pytest.mark.parametrize("content", ["one\n\ufefftwo\n", "\ufeffone\n\ufefftwo\n"])
def test_a_mark_in_a_later_line_is_text(write, content):
    assert values(text_rows(write(content))) == [{"text": "one"}, {"text": "\ufefftwo"}]


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
        with pytest.raises(ConfigurationError, match=r"data\.txt, line 1: null .*may be UTF-16"):
            list(read_lines(path, encoding))


def test_half_a_character_of_utf_16(write):
    path = write("one\ntwo\n".encode("utf-16") + b"\x00")
    with pytest.raises(ConfigurationError, match=r"data\.txt, line \d: not utf-16"):
        list(read_lines(path))


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "latin-1", "windows-1252", "ascii", "shift_jis", "gb18030", "utf-16-le", "UTF-32"],
)
def test_encodings_of_text(encoding):
    assert check_encoding(encoding) == encoding


@pytest.mark.parametrize(
    "encoding",
    [
        *("utf-9", "", "\0", "hex", "base64", "zlib", "rot13", "undefined", "punycode", "idna"),
        # Line feeds are other bytes in the first, and escaped in the second.
        *("cp037", "unicode_escape"),
    ],
)
def test_codecs_that_are_no_encodings_of_text(encoding):
    with pytest.raises(
        ConfigurationError, match=r"encoding=.*expected the name of a text encoding"
    ):
        check_encoding(encoding)


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


@pytest.mark.parametrize("make", [zipped, tarred])
def test_a_damaged_archive(write, make):
    content = bytes(range(256)) * 20
    whole = make(content)
    assert len(whole) > 200
    for name, damaged in [
        ("cut", whole[: len(whole) // 2]),
        ("changed", whole[:80] + bytes(60) + whole[140:]),
        ("text", b"no archive\n"),
    ]:
        path = write(damaged, f"{name}.archive")
        with pytest.raises(ConfigurationError, match=rf"{name}\.archive!a\.txt cannot be opened"):
            list(read_lines(f"{path}!a.txt"))


def test_a_member_that_is_missing(write):
    path = write(zipped(b"a\n"), "data.zip")
    with pytest.raises(FileNotFoundError, match=r"'b\.txt' not found within .*data\.zip"):
        list(read_lines(f"{path}!b.txt"))


@pytest.mark.parametrize("name", ["a\0b", "a" * 5000, "\ud800", "nowhere://a"])
def test_an_impossible_path(name):
    with pytest.raises((ConfigurationError, FileNotFoundError)) as error:
        list(read_lines(name))
    assert str(error.value).encode()
