"""ListOps sequences have their value and tree, and files are the same each time."""

import json
import sys

import pytest

from scripts import make_listops
from scripts.make_listops import ListOfArguments, examples, parse_of, value_of


@pytest.mark.parametrize(
    ("operation", "arguments", "value"),
    [
        ("[MAX", [2, 9, 0], 9),
        ("[MIN", [2, 9, 1], 1),
        ("[MED", [9, 1, 4], 4),
        ("[MED", [9, 1, 4, 3], 3),  # between 3 and 4
        ("[SM", [9, 8, 7], 4),
    ],
)
def test_operations(operation: str, arguments: list, value: int):
    expression = ListOfArguments(operation, arguments)
    assert value_of(expression) == value
    assert value_of(ListOfArguments("[MAX", [0, expression])) == value


def test_the_parse_branches_to_the_left_within_a_list():
    inner = ListOfArguments("[MIN", [4, 7])
    parse = "( ( ( ( [MAX 2 ) ( ( ( [MIN 4 ) 7 ) ] ) ) 0 ) ] )"
    assert parse_of(ListOfArguments("[MAX", [2, inner, 0])) == parse


def made(monkeypatch, folder, *options: object) -> dict[str, list[dict[str, str]]]:
    """The lines of each file that a command makes."""
    command = ["make_listops", folder, "--train", 60, "--validation", 20, "--test", 20, *options]
    monkeypatch.setattr(sys, "argv", list(map(str, command)))
    make_listops.main()
    return {
        name: list(map(json.loads, (folder / f"{name}.jsonl").read_text().splitlines()))
        for name in ("train", "validation", "test")
    }


def test_files_are_the_same_each_time_and_have_no_sequence_in_common(monkeypatch, tmp_path):
    first = made(monkeypatch, tmp_path / "1")
    assert made(monkeypatch, tmp_path / "2") == first
    assert made(monkeypatch, tmp_path / "3", "--seed", 2) != first
    assert [len(lines) for lines in first.values()] == [60, 20, 20]
    texts = [line["text"] for lines in first.values() for line in lines]
    assert len(set(texts)) == 100


@pytest.mark.parametrize(("max_depth", "longest"), [(1, 7), (2, 12)])
def test_depth_and_length_are_limited(max_depth: int, longest: int):
    made = examples(seed=1, max_depth=max_depth, max_length=12)
    lines = [next(made) for _ in range(200)]
    assert max(len(line["text"].split()) for line in lines) == longest
    depths = []
    for line in lines:
        depth = 0
        for token in line["text"].split():
            depth += token.startswith("[")
            depths.append(depth)
            depth -= token == "]"
    assert max(depths) == max_depth


def test_limits_that_allow_no_list(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit):
        made(monkeypatch, tmp_path, "--max-length", 3)
    assert "--max-length 4" in capsys.readouterr().err


def test_limits_that_allow_too_few_lists(monkeypatch, tmp_path, capsys):
    """Four operations on two digits are 400 sequences."""
    monkeypatch.setattr(make_listops, "MAX_REPEATED", 20_000)
    limits = ["--max-depth", 1, "--max-length", 4]
    with pytest.raises(SystemExit):
        made(monkeypatch, tmp_path, *limits, "--train", 390)
    assert "10 of 20 are left for validation" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert len(list(examples(seed=1, max_depth=1, max_length=4))) == 400
