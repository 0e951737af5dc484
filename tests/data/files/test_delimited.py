import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.tables import delimited_rows


def values(rows):
    return [row.values for row in rows]


def test_quotes_are_text_unless_quoted(write):
    path = write('x\ty\n"a\tb""\n')
    assert values(delimited_rows(path)) == [{"x": '"a', "y": 'b""'}]
    path = write('x\ty\n"a\tb"\t"c""d"\n')
    assert values(delimited_rows(path, quoted=True)) == [{"x": "a\tb", "y": 'c"d'}]


def test_a_quoted_cell_may_span_lines_and_rows_are_known_by_their_first(write):
    path = write('x,y\r\n"1\r\n\r\n2",a\r\n\r\n3,b\r\n')
    found = list(delimited_rows(path, ",", quoted=True))
    assert [(row.source.line, row.values) for row in found] == [
        (2, {"x": "1\r\n\r\n2", "y": "a"}),
        (6, {"x": "3", "y": "b"}),
    ]


def test_columns_given_by_the_format(write):
    path = write("1\t2\t3\n4\t5\n")
    assert values(delimited_rows(path, columns=("x", "y"))) == [
        {"x": "1", "y": "2"},
        {"x": "4", "y": "5"},
    ]


def test_columns_by_position(write):
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
def test_malformed_rows(write, content, settings, message):
    with pytest.raises(ConfigurationError, match=r"data\.txt, " + message):
        list(delimited_rows(write(content), **settings))


def test_a_header_alone_is_an_empty_file(write):
    with pytest.raises(ConfigurationError, match=r"data\.txt is empty"):
        list(delimited_rows(write("x\ty\n")))


@pytest.mark.parametrize("quoted", [False, True])
def test_a_row_of_empty_cells_is_a_row(write, quoted):
    delimiter = "," if quoted else "\t"
    path = write(f"x{delimiter}y\n1{delimiter}2\n{delimiter}\n\n3{delimiter}4\n")
    rows = list(delimited_rows(path, delimiter, quoted))
    assert [(row.source.line, list(row.values.values())) for row in rows] == [
        (2, ["1", "2"]),
        (3, ["", ""]),
        (5, ["3", "4"]),
    ]


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("columns", [None, ()])
def test_a_blank_line_between_the_rows_of_one_column(write, quoted, columns):
    path = write("\nx\n1\n\n2\n")
    with pytest.raises(ConfigurationError, match=r"data\.txt, line 4: a blank line in a table"):
        list(delimited_rows(path, quoted=quoted, columns=columns))


def test_blank_lines_around_the_rows_of_one_column(write):
    path = write('\nx\n1\n""\n2\n\n\n')
    assert values(delimited_rows(path, quoted=True)) == [{"x": "1"}, {"x": ""}, {"x": "2"}]


@pytest.mark.parametrize("quoted", [False, True])
def test_two_columns_of_one_name(write, quoted):
    path = write("\nx\ty\tx\n1\t2\t3\n")
    with pytest.raises(ConfigurationError, match=r"data\.txt, line 2: two columns .* 'x'"):
        list(delimited_rows(path, quoted=quoted))


def test_columns_without_a_name(write):
    assert values(delimited_rows(write("x\t\t\n1\t\t\n"))) == [{"x": "1", "": ""}]
