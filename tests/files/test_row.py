"""The values of a row are read in their types, and errors say where they are."""

from pathlib import Path

import pytest

from allennlp_sentmatch.files.row import Row, Source
from tests.fuzzing import nested

ROW = Row(Source("f.jsonl", 7), {"s": "text", "n": 3, "t": True, "z": None, "e": " ", "l": ["x"]})


def of(x):
    return Row(Source("f.jsonl", 7), {"x": x})


def test_values():
    # The first existing column counts.
    assert ROW.text(["missing", "s"]) == "text"
    assert ROW.label(["missing", "s", "n"]) == "text"
    labels = [ROW.label([column]) for column in ("n", "t", "z", "missing")]
    assert labels == ["3", "true", None, None]
    assert [of("3.5").number(["x"]), ROW.number(["n"]), ROW.number(["missing"])] == [3.5, 3.0, None]
    ids = [ROW.joined(columns) for columns in (["s", "n"], ["s", "missing"], ["s", "z"], [])]
    assert [*ids, of("").joined(["x"])] == ["text-3", None, None, None, None]
    row = Row(Source("f", 1), {"one": "a", "two": ["b", " c"], "none": None})
    assert row.texts(["two", "missing", "one", "none"]) == ["b", " c", "a"]
    assert row.texts(["none", "missing"]) is None


@pytest.mark.parametrize("number", [-1, 0.5, 3])
def test_numbers_within_limits(number):
    assert of(str(number)).number(["x"], (-1, 3)) == number


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: ROW.text(["a", "b"]), "there is no column 'a' or 'b'; the columns are 's', 'n'"),
        (lambda: ROW.text(["n"]), "column 'n' must be a string, not 3"),
        (lambda: ROW.text(["z"]), "column 'z' must be a string, not None"),
        (lambda: ROW.label(["e"]), "column 'e' is empty: expected a label"),
        (lambda: ROW.label(["l"]), r"column 'l' must be a label, not \['x'\]"),
        (lambda: ROW.joined(["s", "l"]), r"column 'l' must be an id, not \['x'\]"),
        *(
            (lambda x=x: of(x).number(["x"]), "column 'x' must be a finite number, not ")
            for x in ["a", ["x"], "nan", "inf", float("nan"), 10**400, "1e999", "1_0", True]
        ),
        *(
            (lambda x=x: of(x).number(["x"], (-1, 3)), f"column 'x' .* -1 and 3, not {x}$")
            for x in (-1.5, 3.25)
        ),
        *(
            (lambda x=x: of(x).texts(["x"]), f"column 'x' {message}")
            for x, message in [
                (3, "must hold strings, not 3"),
                (["a", None], "must hold strings, not None"),
                ({"text": "a"}, "must hold strings"),
                ("", "holds a blank text"),
                (["a", " "], "holds a blank text"),
                ([], "is an empty list"),
                (["a", "\ud800"], "has the lone surrogate"),
            ]
        ),
        *(
            (lambda read=read: read(of("a\ud800"), ["x"]), "column 'x' has the lone surrogate")
            for read in (Row.text, Row.label, Row.joined)
        ),
    ],
)
def test_errors_say_where(read, message):
    with pytest.raises(ValueError, match=rf"^f\.jsonl, line 7: {message}"):
        read()


def test_a_value_of_any_size_is_cut_short_in_errors():
    for value in (nested(900), list(range(10**6)), {"a": "b" * 10**6}):
        for read in (Row.text, Row.label, Row.number, Row.joined):
            with pytest.raises(ValueError, match="column 'x' must be") as error:
                read(of(value), ["x"])
            assert len(str(error.value)) < 400


def test_a_source_as_text():
    assert str(Source("pairs.tsv", 3)) == "pairs.tsv, line 3"
    assert str(Source(Path("pos") / "1.txt")) == str(Path("pos/1.txt"))
    assert str(Source("squad.json", part="data[0]")) == "squad.json, data[0]"
