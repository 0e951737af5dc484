"""The figures of `make lint` on code whose figures are counted by hand, and its limits."""

import sys

import pytest

from scripts import readability
from scripts.readability import beyond, measure

CODE = '''"""A module.

Its docstring has three lines."""
import os


def first(a, b=None):
    """Return a."""
    if not a or b and a:
        raise ValueError(
            "joined lines do not change tokens"
        )
    x, y = a, b  # parallel
    (x, y) = (y, x)
    for one in [z for z in a if z]:

        def inner():
            while x:
                pass

        print(*(one, x), *a, **{"sep": y}, **os.environ)
    return {**{"a": 1}, **x} if y else [*[1], *y]
'''


def figures_of(folder, code):
    folder.mkdir(exist_ok=True)
    (folder / "code.py").write_text(code)
    return measure(folder)


def test_the_figures_of_a_file(tmp_path):
    counts = figures_of(tmp_path, CODE)
    assert counts.docstring_lines == 4
    assert counts.code_lines == 14
    assert counts.check_lines == 4
    assert counts.unpacked == 4  # not `*a`, `**os.environ`, `**x` and `*y`
    assert counts.parallel == 2
    (first, inner) = counts.functions
    assert first.lines == 14
    assert first.branches == 6
    assert first.inner == 1
    assert inner.lines == 2
    assert inner.branches == 1
    assert inner.inner == 0
    figures = counts.figures()
    assert figures["branches"] == 3.5
    assert figures["docs"] == pytest.approx(4 / 14)
    assert figures["checks"] == pytest.approx(100 * 4 / 22)
    assert figures["parallel"] == pytest.approx(1000 * 2 / 14)


def test_breaking_lines_changes_neither_tokens_nor_branches(tmp_path):
    joined = figures_of(tmp_path / "a", "x = [a and b, c]  # why\n")
    broken = figures_of(tmp_path / "b", "x = [\n    a\n    and b,\n    c\n]\n")
    assert joined.tokens == 9
    assert broken.tokens == 9
    assert joined.figures()["a line"] == 9
    assert broken.figures()["a line"] == 9 / 5


@pytest.mark.parametrize(("lines", "long"), [(60, 0), (61, 1)])
def test_a_long_function(tmp_path, lines, long):
    code = 'def f():\n    """Do nothing."""\n' + "    pass\n" * lines
    assert figures_of(tmp_path, code).figures()["long"] == long


@pytest.mark.parametrize(("branches", "thick"), [(15, 0), (16, 1)])
def test_a_thick_function(tmp_path, branches, thick):
    code = "async def f():\n" + "    if x: pass\n" * branches
    assert figures_of(tmp_path, code).figures()["thick"] == thick


def test_limits():
    figures = {"tokens": 100, "docs": 0.3}
    assert beyond(figures, {"tokens": 100, "docs": 0.3}) == []
    sentences = beyond(figures, {"tokens": 99, "docs": 0.31})
    assert sentences == ["tokens 100 is above the limit 99", "docs 0.30 is below the limit 0.31"]


def test_a_folder_beyond_its_limits_fails(tmp_path, monkeypatch, capsys):
    figures_of(tmp_path, CODE)
    monkeypatch.setattr(sys, "argv", ["readability", str(tmp_path), "--worst", "1"])
    monkeypatch.setattr(readability, "LIMITS", {str(tmp_path): {"unpacked": 3}})
    with pytest.raises(SystemExit, match=r"unpacked 4 is above the limit 3"):
        readability.main()
    assert "  14 lines   6 branches" in capsys.readouterr().out
    monkeypatch.setattr(readability, "LIMITS", {str(tmp_path): {"unpacked": 4}})
    readability.main()
