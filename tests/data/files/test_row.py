from pathlib import Path

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.row import Row, Source

ROW = Row(Source("f.jsonl", 7), {"s": "text", "n": 3, "t": True, "z": None, "e": " ", "l": ["x"]})


def test_the_first_column_present_counts():
    assert ROW.text(["missing", "s"]) == "text"
    assert ROW.label(["missing", "s", "n"]) == "text"


def test_labels():
    assert ROW.label(["n"]) == "3"
    assert ROW.label(["t"]) == "true"
    assert ROW.label(["z"]) is None
    assert ROW.label(["missing"]) is None


def test_texts():
    row = Row(Source("f", 1), {"one": "a", "two": ["b", " c"], "none": None})
    assert row.texts(["two", "missing", "one", "none"]) == ["b", " c", "a"]
    assert row.texts(["none", "missing"]) is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "column 'x' must hold strings, not 3"),
        (["a", None], "column 'x' must hold strings, not None"),
        ({"text": "a"}, "column 'x' must hold strings"),
        ("", "column 'x' holds a blank text"),
        (["a", " "], "column 'x' holds a blank text"),
        ([], "column 'x' is an empty list"),
        (["a", "\ud800"], "column 'x' has the lone surrogate"),
    ],
)
def test_what_is_not_texts(value, message):
    with pytest.raises(ConfigurationError, match=rf"^f, line 1: {message}"):
        Row(Source("f", 1), {"x": value}).texts(["x"])


def test_numbers():
    assert Row(Source("f", 1), {"x": "3.5"}).number(["x"]) == 3.5
    assert ROW.number(["n"]) == 3.0
    assert ROW.number(["missing"]) is None


@pytest.mark.parametrize("number", [-1, 0.5, 3])
def test_numbers_within_limits(number):
    assert Row(Source("f", 1), {"x": str(number)}).number(["x"], (-1, 3)) == number


@pytest.mark.parametrize("number", [-1.5, 3.25])
def test_numbers_outside_limits(number):
    row = Row(Source("f", 1), {"x": str(number)})
    with pytest.raises(ConfigurationError, match=f"^f, line 1: .* between -1 and 3, not {number}$"):
        row.number(["x"], (-1, 3))


def test_joined():
    assert ROW.joined(["s", "n"]) == "text-3"
    assert ROW.joined(["s", "missing"]) is None
    assert ROW.joined(["s", "z"]) is None
    assert ROW.joined([]) is None
    assert Row(Source("f", 1), {"x": ""}).joined(["x"]) is None


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda row: row.text(["a", "b"]), "no column 'a' or 'b'; the columns are 's', 'n'"),
        (lambda row: row.text(["n"]), "column 'n' must be a string, not 3"),
        (lambda row: row.text(["z"]), "column 'z' must be a string, not None"),
        (lambda row: row.label(["e"]), "column 'e' is empty: expected a label"),
        (lambda row: row.label(["l"]), r"column 'l' must be a label, not \['x'\]"),
        (lambda row: row.number(["s"]), "column 's' must be a finite number, not 'text'"),
        (lambda row: row.joined(["s", "l"]), r"column 'l' must be an id, not \['x'\]"),
        (lambda row: row.number(["l"]), r"column 'l' must be a finite number, not \['x'\]"),
    ],
)
def test_errors_say_where(read, message):
    with pytest.raises(ConfigurationError, match=rf"^f\.jsonl, line 7: .*{message}"):
        read(ROW)


@pytest.mark.parametrize("value", ["nan", "inf", "-Infinity", float("nan"), 10**400, "1e999"])
def test_a_number_is_finite(value):
    row = Row(Source("f", 1), {"x": value})
    with pytest.raises(ConfigurationError, match=r"^f, line 1: column 'x' must be a finite number"):
        row.number(["x"])


@pytest.mark.parametrize("read", [Row.text, Row.label, Row.joined])
def test_a_lone_surrogate(read):
    row = Row(Source("f", 1), {"x": "a\ud800"})
    with pytest.raises(ConfigurationError, match=r"^f, line 1: column 'x' has the lone surrogate"):
        read(row, ["x"])


def test_a_value_of_any_size_is_cut_short_in_errors():
    deep = []
    for _ in range(900):
        deep = [deep]
    for value in (deep, list(range(10**6)), {"a": "b" * 10**6}):
        row = Row(Source("f", 1), {"x": value})
        for read in (Row.text, Row.label, Row.number, Row.joined):
            with pytest.raises(ConfigurationError, match="column 'x' must be") as error:
                read(row, ["x"])
            assert len(str(error.value)) < 400


def test_a_source_as_text():
    assert str(Source("pairs.tsv", 3)) == "pairs.tsv, line 3"
    assert str(Source(Path("pos") / "1.txt")) == str(Path("pos/1.txt"))
    assert str(Source("squad.json", part="data[0]")) == "squad.json, data[0]"
