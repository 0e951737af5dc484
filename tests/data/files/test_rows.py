import gzip
import io
import tarfile

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files import rows
from allennlp_sentmatch.data.files.rows import delimited_rows, json_rows, text_rows


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def values(rows):
    return [row.values for row in rows]


class TestText:
    def test_line_ends_byte_order_mark_and_blank_lines_are_no_text(self, write):
        path = write(b"\xef\xbb\xbfone\r\n\n  \ntwo\tthree \r\nfour")
        found = list(text_rows(path))
        assert [(row.line, row.values["text"]) for row in found] == [
            (1, "one"),
            (4, "two\tthree "),
            (5, "four"),
        ]

    def test_only_line_feeds_end_a_line(self, write):
        text = "a\u2028b\x85c\x0bd\x1ce"
        assert values(text_rows(write(text + "\n"))) == [{"text": text}]

    def test_encodings(self, write):
        path = write("café \u2013 €\n".encode("windows-1252"))
        assert values(text_rows(path, "windows-1252")) == [{"text": "café \u2013 €"}]

    @pytest.mark.parametrize("name", ["data.txt.gz", "data"])
    def test_gzip_is_seen_from_the_content(self, write, name):
        path = write(gzip.compress("één\ntwee\n".encode()), name)
        assert values(text_rows(path)) == [{"text": "één"}, {"text": "twee"}]

    def test_a_member_of_an_archive(self, tmp_path):
        archive = tmp_path / "data.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            member = tarfile.TarInfo("folder/a.txt")
            member.size = 4
            tar.addfile(member, io.BytesIO(b"abc\n"))
        assert values(text_rows(f"{archive}!folder/a.txt")) == [{"text": "abc"}]

    def test_undecodable_text_names_file_line_and_encoding(self, write):
        path = write(b"good\n" * 5000 + b"caf\xe9\n" + b"good\n" * 5000)
        with pytest.raises(ConfigurationError, match=r"data\.txt, line 5001: not utf-8"):
            list(text_rows(path))

    def test_damaged_gzip_names_the_file(self, write):
        path = write(gzip.compress(b"line\n" * 5000)[:-20])
        with pytest.raises(ConfigurationError, match=r"data\.txt: damaged gzip data after line"):
            list(text_rows(path))

    @pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b""), b"\xef\xbb\xbf"])
    def test_an_empty_file_is_an_error(self, write, content):
        with pytest.raises(ConfigurationError, match=r"data\.txt is empty"):
            list(text_rows(write(content)))

    def test_a_folder_and_a_missing_file(self, tmp_path):
        with pytest.raises(ConfigurationError, match="is a folder"):
            list(text_rows(tmp_path))
        with pytest.raises(FileNotFoundError, match="missing"):
            list(text_rows(tmp_path / "missing"))

    def test_check_encoding(self):
        assert rows.check_encoding("latin-1") == "latin-1"
        with pytest.raises(ConfigurationError, match="encoding='utf-9'"):
            rows.check_encoding("utf-9")


class TestJson:
    def test_objects(self, write):
        path = write('{"a": 1, "b": "x"}\n\n{"a": null}\n')
        found = list(json_rows(path))
        assert [(row.line, row.values) for row in found] == [
            (1, {"a": 1, "b": "x"}),
            (3, {"a": None}),
        ]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ('{"a": 1', "line 2: not valid JSON"),
            ("[1, 2]", r"line 2: expected a JSON object.*got \[1, 2\]"),
        ],
    )
    def test_malformed_lines(self, write, line, message):
        with pytest.raises(ConfigurationError, match=r"data\.txt, " + message):
            list(json_rows(write('{"a": 1}\n' + line + "\n")))


class TestDelimited:
    def test_quotes_are_text_unless_quoted(self, write):
        path = write('x\ty\n"a\tb""\n')
        assert values(delimited_rows(path)) == [{"x": '"a', "y": 'b""'}]
        path = write('x\ty\n"a\tb"\t"c""d"\n')
        assert values(delimited_rows(path, quoted=True)) == [{"x": "a\tb", "y": 'c"d'}]

    def test_a_quoted_cell_may_span_lines_and_rows_are_known_by_their_first(self, write):
        path = write('x,y\r\n"1\r\n\r\n2",a\r\n\r\n3,b\r\n')
        found = list(delimited_rows(path, ",", quoted=True))
        assert [(row.line, row.values) for row in found] == [
            (2, {"x": "1\r\n\r\n2", "y": "a"}),
            (6, {"x": "3", "y": "b"}),
        ]

    def test_columns_given_by_the_format(self, write):
        path = write("1\t2\t3\n4\t5\n")
        assert values(delimited_rows(path, columns=("x", "y"))) == [
            {"x": "1", "y": "2"},
            {"x": "4", "y": "5"},
        ]

    def test_columns_by_position(self, write):
        assert values(delimited_rows(write("a b\nc\n"), " ", columns=())) == [
            {0: "a", 1: "b"},
            {0: "c"},
        ]

    @pytest.mark.parametrize(
        ("content", "settings", "message"),
        [
            ("x\ty\n1\t2\n1\n", {}, r"line 3: 1 columns where the header has 2 \(x, y\)"),
            ("x\ty\n1\t2\t3\n", {}, r"line 2: 3 columns where the header has 2 \(x, y\)"),
            ("1\n", {"columns": ("x", "y")}, r"line 1: 1 columns, expected 2 \(x, y\)"),
            ('x\ty\n1\t"2\n', {"quoted": True}, "line 2: malformed quoted row"),
            ('x\ty\n1\t"2"3\n', {"quoted": True}, "line 2: malformed quoted row"),
        ],
    )
    def test_malformed_rows(self, write, content, settings, message):
        with pytest.raises(ConfigurationError, match=r"data\.txt, " + message):
            list(delimited_rows(write(content), **settings))

    def test_a_header_alone_is_an_empty_file(self, write):
        with pytest.raises(ConfigurationError, match=r"data\.txt is empty"):
            list(delimited_rows(write("x\ty\n")))


class TestRow:
    row = rows.Row("f.jsonl", 7, {"s": "text", "n": 3, "t": True, "z": None, "e": " ", "l": ["x"]})

    def test_the_first_column_present_counts(self):
        assert self.row.text(["missing", "s"]) == "text"
        assert self.row.label(["missing", "s", "n"]) == "text"

    def test_labels(self):
        assert self.row.label(["n"]) == "3"
        assert self.row.label(["t"]) == "true"
        assert self.row.label(["z"]) is None
        assert self.row.label(["missing"]) is None

    def test_numbers(self):
        assert rows.Row("f", 1, {"x": "3.5"}).number(["x"]) == 3.5
        assert self.row.number(["n"]) == 3.0
        assert self.row.number(["missing"]) is None

    def test_joined(self):
        assert self.row.joined(["s", "n"]) == "text-3"
        assert self.row.joined(["s", "missing"]) is None
        assert self.row.joined([]) is None

    @pytest.mark.parametrize(
        ("read", "message"),
        [
            (lambda row: row.text(["a", "b"]), "no column 'a' or 'b'; the columns are 's', 'n'"),
            (lambda row: row.text(["n"]), "column 'n' must be a string, not 3"),
            (lambda row: row.text(["z"]), "column 'z' must be a string, not None"),
            (lambda row: row.label(["e"]), "column 'e' is empty: expected a label"),
            (lambda row: row.label(["l"]), r"column 'l' must be a label, not \['x'\]"),
            (lambda row: row.number(["s"]), "column 's' must be a number, not 'text'"),
            (lambda row: row.number(["l"]), r"column 'l' must be a number, not \['x'\]"),
        ],
    )
    def test_errors_say_where(self, read, message):
        with pytest.raises(ConfigurationError, match=rf"^f\.jsonl, line 7: .*{message}"):
            read(self.row)
