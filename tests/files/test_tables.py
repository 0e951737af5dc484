"""Tables of users are read with their delimiters and quotes; malformed rows are named."""

import csv
import io

import pytest

from allennlp_sentmatch.files.tables import Table, delimited_rows, listed_sentences, read_sentences

NAMES = {"text": "x", "label": "y"}


def found(rows):
    """The lines and values of rows."""
    return [(row.source.line, row.values) for row in rows]


@pytest.mark.parametrize(
    ("content", "settings", "expected"),
    [
        # Quotes are text unless the table is quoted.
        ('x\ty\n"a\tb""\n', {}, [(2, {"x": '"a', "y": 'b""'})]),
        ('x\ty\n"a\tb"\t"c""d"\n', {"quoted": True}, [(2, {"x": "a\tb", "y": 'c"d'})]),
        # A quoted cell may span lines, and rows are known by their first.
        (
            'x,y\r\n"1\r\n\r\n2",a\r\n\r\n3,b\r\n',
            {"delimiter": ",", "quoted": True},
            [(2, {"x": "1\r\n\r\n2", "y": "a"}), (6, {"x": "3", "y": "b"})],
        ),
        ("1\t2\t3\n", {"columns": ("x", "y")}, [(1, {"x": "1", "y": "2"})]),
        # By position
        ("a b\nc\n", {"delimiter": " ", "columns": ()}, [(1, {0: "a", 1: "b"}), (2, {0: "c"})]),
        # A row of empty cells is a row.
        *(
            ("x\ty\n\t\n\n3\t4\n", settings, [(2, {"x": "", "y": ""}), (4, {"x": "3", "y": "4"})])
            for settings in ({}, {"quoted": True})
        ),
        # Blank lines around the rows of one column
        ('\nx\n1\n""\n\n\n', {"quoted": True}, [(3, {"x": "1"}), (4, {"x": ""})]),
        # Columns without a name
        ("x\t\t\n1\t\t\n", {}, [(2, {"x": "1", "": ""})]),
    ],
)
def test_delimited_rows(write, content, settings, expected):
    assert found(delimited_rows(write(content), **settings)) == expected


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        ("x\ty\n1\t2\n1\n", {}, r", line 3: 1 columns where the header has 2 \(x, y\)"),
        ("x\ty\n1\t2\t3\n", {}, r", line 2: 3 columns where the header has 2 \(x, y\)"),
        ("1\n", {"columns": ("x", "y")}, r", line 1: 1 columns, expected 2 \(x, y\)"),
        ('x\ty\n1\t"2\n', {"quoted": True}, ", line 2: malformed quoted row"),
        ('x\ty\n1\t"2"3\n', {"quoted": True}, ", line 2: malformed quoted row"),
        ("x\ty\n", {}, " is empty"),
        ("\nx\n1\n\n2\n", {}, ", line 4: a blank line in a table"),
        ("\nx\n1\n\n2\n", {"quoted": True}, ", line 4: a blank line in a table"),
        ("\nx\n1\n\n2\n", {"columns": ()}, ", line 4: a blank line"),
        ("\nx\ty\tx\n1\t2\t3\n", {}, ", line 2: two columns .* 'x'"),
    ],
)
def test_malformed_rows(write, content, settings, message):
    with pytest.raises(ValueError, match=r"data\.txt" + message):
        list(delimited_rows(write(content), **settings))


@pytest.mark.parametrize(
    ("content", "settings"),
    [
        ('x\ty\n"a, b\tc\n', {}),
        ('x,y\n"""a, b",c\n', {}),
        ('{"x": "\\"a, b", "y": "c"}\n', {}),
        ('\nx;y\n"a, b;c\n', {"delimiter": ";"}),
        ('x ||| y\n"a, b ||| c\n', {"delimiter": " ||| "}),
        ('x\ty\n"""a, b"\tc\n', {"quoted": True}),
        ('x,y\n"""a, b",c\n', {"delimiter": ","}),
    ],
)
def test_forms_of_a_users_table(write, content, settings):
    (row,) = Table(NAMES, **settings).rows(write(content))
    assert row.values == {"x": '"a, b', "y": "c"}


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_the_log_or_an_error_names_the_setting_for_quotes(write, caplog, quoting, delimiter):
    """Tables as written by the module csv, and so by pandas."""
    rows = [
        ['He said "hi" to me.', "yes"],
        ["She said nothing.", "no"],
        ["a, b", "no"],
    ]
    for broken in ([], [f"1{delimiter}2", "yes"], ['a "b"\nc', "yes"]):
        stream = io.StringIO(newline="")
        writer = csv.writer(
            stream,
            delimiter=delimiter,
            quoting=quoting,
            lineterminator="\n",
        )
        table = [*rows, broken] if broken else rows
        writer.writerows([["x", "y"], *table])
        path = write(stream.getvalue())
        caplog.clear()
        if broken or quoting == csv.QUOTE_NONNUMERIC:
            with pytest.raises(ValueError, match=r"columns.*`quoted: true`"):
                list(Table(NAMES, delimiter).rows(path))
        else:
            texts = [row.values["x"] for row in Table(NAMES, delimiter).rows(path)]
            assert texts == ['"He said ""hi"" to me."', *(text for text, _ in rows[1:])]
            (message,) = caplog.messages
            assert message.startswith(f"{path}: double quotes are read as text; set the reader's")
        caplog.clear()
        read = Table(NAMES, delimiter, quoted=True).rows(path)
        assert [list(row.values.values()) for row in read] == table
        assert not caplog.messages


@pytest.mark.parametrize(
    ("content", "quoted"),
    [
        ('x\ty\n"A" or "B"\t1\n"C", he said\t2\n', None),
        ('x\ty\n5" by 6"\t1\n"C"\t2\n', None),
        ("x\ty\nno quotes\t1\n", None),
        ('x\ty\n"""C"""\t2\n', False),
    ],
)
def test_quotes_that_are_text_are_read_without_a_word(write, caplog, content, quoted):
    read = Table(NAMES, quoted=quoted).rows(write(content))
    lines = ["\t".join(row.values.values()) for row in read]
    assert lines == content.splitlines()[1:]
    assert not caplog.messages


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        ({"text": "x", "label": 1}, {}, "all columns by name.*or all by position"),
        ({"text": "x"}, {"delimiter": ""}, "delimiter=''"),
        ({"text": "x"}, {"delimiter": "||", "quoted": True}, r"delimiter='\|\|'"),
    ],
)
def test_impossible_settings(columns, settings, message):
    with pytest.raises(ValueError, match=message):
        Table(columns, **settings)


@pytest.mark.parametrize("content", ["x\nb\n", '{"x": "a", "y": "b"}\n{"x": "a"}\n'])
def test_a_column_that_is_missing_is_named_with_its_setting(write, content):
    """The remedy mentions null only if it is allowed."""
    message = "line 2: there is no column 'y'; the columns are 'x'; name it in the setting 'label'"
    for optional in ((), ("label",)):
        with pytest.raises(ValueError, match=message) as error:
            list(Table(NAMES, optional=optional).rows(write(content)))
        assert ("(null there if" in str(error.value)) == bool(optional)


@pytest.mark.parametrize("delimiter", [";", "|"])
@pytest.mark.parametrize("columns", [NAMES, {"text": 0, "label": 1}])
def test_another_delimiter_than_the_expected(write, delimiter, columns):
    path = write(f'"x"{delimiter}y\na, b{delimiter}c\n')
    message = rf"data\.txt: the columns are separated by '\{delimiter}', it seems; set `delimiter`"
    with pytest.raises(ValueError, match=message):
        list(Table(columns).rows(path))
    assert len(list(Table(columns, delimiter=delimiter, quoted=True).rows(path))) > 0


@pytest.mark.parametrize("content", ['[{"x": 1}]', '[\n{"x": 1}\n]\n', '\n [ {"x": 1},\n'])
def test_a_json_array(write, content):
    with pytest.raises(ValueError, match=r"data\.txt, line \d: .*jq -c '\.\[\]'"):
        list(Table(NAMES).rows(write(content)))


@pytest.mark.parametrize(
    ("content", "settings", "expected"),
    [
        ("one é\r\n\nthree", {}, ["one é", "", "three"]),
        ("id\ttext\n1\tone\n2\ttwo\n", {"column": "text"}, ["one", "two"]),
        ("id\ttext\n1\tone\n2\ttwo\n", {"column": 1}, ["text", "one", "two"]),
        ("id\ttext\n1\tone\n\t\n\n2\ttwo\n", {"column": "text"}, ["one", "", "two"]),
        ('{"text": "one"}\n{"text": "two"}\n', {"column": "text"}, ["one", "two"]),
        ("id;text\n1;one, two\n", {"column": "text", "delimiter": ";"}, ["one, two"]),
        ("\tindented\none\ttwo\n", {}, ["\tindented", "one\ttwo"]),
    ],
)
def test_sentences(write, content, settings, expected):
    assert list(read_sentences(write(content), **settings)) == expected


@pytest.mark.parametrize(
    ("name", "content", "settings", "message"),
    [
        ("s.tsv", "id\ttext\n1\tone\n", {"column": "body"}, ", line 2: there is no column 'body'"),
        ("s.txt", "one;two\n", {"delimiter": ";"}, "delimiter=';' needs a column"),
        ("s.txt", "id\ttext\n1\tone\n", {}, "s.txt is a table, it seems; .*--column"),
        ("s.csv", "0\none\n", {"column": 0}, "line 1: the row numbers the columns, as pandas"),
        ("s.tsv", "\t0\t1\n0\ta\tb\n", {"column": 1}, "write the table with `header=False`"),
        *(
            (name, "one\n", {}, f"{name} is a table, it seems; name the column")
            for name in ("s.CSV", "s.jsonl", "s.tsv.gz")
        ),
    ],
)
def test_sentences_that_cannot_be_told(write, name, content, settings, message):
    with pytest.raises(ValueError, match=message):
        list(read_sentences(write(content, name), **settings))


def test_a_table_where_no_column_can_be_named(write):
    assert list(listed_sentences(write("one\n\nthree"))) == ["one", "", "three"]
    with pytest.raises(ValueError, match="a table, it seems; expected a text file with one") as e:
        list(listed_sentences(write("one\n", "gone.csv")))
    assert "--column" not in str(e.value)
