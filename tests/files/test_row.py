"""The values of a row are read in their types, and errors say where they are."""

from pathlib import Path

import pytest

from allennlp_sentmatch.files.row import Row, Source
from tests.fuzzing import nested

SOURCE = Source("f.jsonl", 7)


ROW = Row(
    SOURCE,
    {
        "s": "text",
        "n": 3,
        "t": True,
        "z": None,
        "e": " ",
        "l": ["x"],
    },
)


def of(x):
    """Return a row whose column `x` has this value."""
    return Row(SOURCE, {"x": x})


def test_the_first_existing_column_counts():
    assert ROW.text(["missing", "s"]) == "text"
    assert ROW.label(["missing", "s", "n"]) == "text"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("n", "3"),
        ("t", "true"),
        ("z", None),
        ("missing", None),
    ],
)
def test_labels(column, expected):
    assert ROW.label([column]) == expected


def test_numbers():
    assert of("3.5").number(["x"]) == 3.5
    assert ROW.number(["n"]) == 3.0
    assert ROW.number(["missing"]) is None


def test_joined_ids():
    assert ROW.joined(["s", "n"]) == "text-3"
    assert ROW.joined(["s", "missing"]) is None
    assert ROW.joined(["s", "z"]) is None
    assert ROW.joined([]) is None
    assert of("").joined(["x"]) is None


def test_texts_of_several_columns():
    row = Row(SOURCE, {"one": "a", "two": ["b", " c"], "none": None})
    assert row.texts(["two", "missing", "one", "none"]) == ["b", " c", "a"]
    assert row.texts(["none", "missing"]) is None


@pytest.mark.parametrize("number", [-1, 0.5, 3])
def test_numbers_within_limits(number):
    assert of(str(number)).number(["x"], (-1, 3)) == number


def check_error(message):
    """Expect an error of the row that has this message."""
    return pytest.raises(ValueError, match=rf"^f\.jsonl, line 7: {message}")


@pytest.mark.parametrize(
    ("read", "columns", "message"),
    [
        (Row.text, ["a", "b"], "there is no column 'a' or 'b'; the columns are 's', 'n'"),
        (Row.text, ["n"], "column 'n' must be a string, not 3"),
        (Row.text, ["z"], "column 'z' must be a string, not None"),
        (Row.label, ["e"], "column 'e' is empty: expected a label"),
        (Row.label, ["l"], r"column 'l' must be a label, not \['x'\]"),
        (Row.joined, ["s", "l"], r"column 'l' must be an id, not \['x'\]"),
    ],
)
def test_errors_say_where(read, columns, message):
    with check_error(message):
        read(ROW, columns)


@pytest.mark.parametrize(
    "value", ["a", ["x"], "nan", "inf", float("nan"), 10**400, "1e999", "1_0", True]
)
def test_what_is_no_finite_number(value):
    with check_error("column 'x' must be a finite number, not "):
        of(value).number(["x"])


@pytest.mark.parametrize("value", [-1.5, 3.25])
def test_numbers_outside_of_limits(value):
    with check_error(f"column 'x' .* -1 and 3, not {value}$"):
        of(value).number(["x"], (-1, 3))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "must hold strings, not 3"),
        (["a", None], "must hold strings, not None"),
        ({"text": "a"}, "must hold strings"),
        ("", "holds a blank text"),
        (["a", " "], "holds a blank text"),
        ([], "is an empty list"),
        (["a", "\ud800"], "has the lone surrogate"),
    ],
)
def test_what_are_no_texts(value, message):
    with check_error(f"column 'x' {message}"):
        of(value).texts(["x"])


@pytest.mark.parametrize("read", [Row.text, Row.label, Row.joined])
def test_lone_surrogates(read):
    with check_error("column 'x' has the lone surrogate"):
        read(of("a\ud800"), ["x"])


@pytest.mark.parametrize("read", [Row.text, Row.label, Row.number, Row.joined])
@pytest.mark.parametrize(
    "value",
    [nested(900), list(range(10**6)), {"a": "b" * 10**6}],
    ids=["nested", "list", "object"],
)
def test_a_value_of_any_size_is_cut_short_in_errors(read, value):
    with pytest.raises(ValueError, match="column 'x' must be") as error:
        read(of(value), ["x"])
    assert len(str(error.value)) < 400


def test_a_source_as_text():
    assert str(Source("pairs.tsv", 3)) == "pairs.tsv, line 3"
    assert str(Source(Path("pos") / "1.txt")) == str(Path("pos/1.txt"))
    assert str(Source("squad.json", part="data[0]")) == "squad.json, data[0]"
