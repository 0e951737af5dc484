"""The tests that cover a line are found."""

import json
import os
import subprocess
import sys

import pytest

from scripts.covering_tests import enclosing_function
from tests.conftest import REPOSITORY

MODULE = """RATE = 2

def total(prices):
    return sum(prices)

def with_tax(price):
    if price < 0:
        return 0
    return total([price]) * RATE

def unused():
    return 1
"""

TESTS = """from concurrent.futures import ThreadPoolExecutor
from shop.prices import total, with_tax

def test_total():
    assert total([1, 2]) == 3

def test_with_tax():
    with ThreadPoolExecutor() as threads:
        assert threads.submit(with_tax, 3).result() == 6
"""

START = """
import json, sys
from pathlib import Path
from scripts import covering_tests
from scripts.covering_tests import CoveringTests, RecordedTest

tests = CoveringTests(Path.cwd(), "shop", ["tests"])
module = Path("shop/prices.py").resolve()
names = lambda records: [record.name.partition("::")[2] for record in records]
"""


SELECTIONS = """
print(json.dumps([names(tests.select(module, *lines)) for lines in json.loads(sys.argv[1])]))
lines = {str(module): [3]}
recorded, chosen = tests.records, []
for seconds in ((7.0, 1.0, 20.0, 3.0, 2.0), (30.0, 20.0)):
    tests.records = [RecordedTest(f"::{s}", s, lines) for s in seconds]
    chosen.append(names(tests.select(module, 3)))
print(json.dumps([*chosen, tests.select(Path("shop/other.py"), 3)]))

tests.records = recorded
source = module.read_text()
total, with_tax = tests.select(module, 4), tests.select(module, 9)
results = [tests.run(total)]
module.write_text(source.replace("* RATE", "+ RATE"))
alone = [test for test in total if test.name.endswith("test_total")]
results += [tests.run(alone), tests.run(with_tax)]
module.write_text(source)
results += [tests.run(with_tax)]
print(json.dumps(results))
"""


@pytest.fixture
def session(tmp_path):
    """Runs code in a process with the covering tests of a small repository; returns its output
    lines.
    """
    (tmp_path / "shop").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "shop" / "prices.py").write_text(MODULE)
    (tmp_path / "tests" / "test_prices.py").write_text(TESTS)

    def run(code, *arguments):
        command = [sys.executable, "-c", START + code, *map(json.dumps, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        process = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert process.returncode == 0, process.stderr
        return list(map(json.loads, process.stdout.splitlines()))

    return run


def test_the_tests_of_a_line_and_what_they_see_of_a_change(session):
    one = ["test_with_tax"]
    both = ["test_total", "test_with_tax"]
    # Line 8 is not run, although its function is; the function at line 11 is not called.
    expected = {
        (4,): both,
        (9,): one,
        (8, 6): one,
        (12, 11): both,
        (1, None): both,
    }
    selected, quickest, results = session(SELECTIONS, list(expected))
    assert list(map(sorted, selected)) == list(expected.values())
    assert quickest == [["1.0", "2.0", "3.0"], ["20.0"], []]  # the slow ones are left out
    assert [passed for passed, _ in results] == [True, True, False, True]
    assert "2 passed" in results[0][1]
    assert "1 passed" in results[1][1]
    assert "FAILED tests/test_prices.py::test_with_tax" in results[2][1]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (1, None),
        (2, 2),
        (4, 2),
        (5, 5),
        (6, 5),
        (7, 2),
        (9, None),
        (10, 10),
    ],
)
def test_the_innermost_function_around_a_line(line, expected):
    source = """class A:
    @property
    def b(self):
        x = 1
        def c():
            return x
        return c

    d = 2
    def e(self): ...
"""
    assert enclosing_function(source, line) == expected
