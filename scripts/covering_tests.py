"""Run the tests that cover a line, in forks of a process that has imported the libraries."""

import ast
import gc
import importlib
import json
import os
import resource
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Optional

import pytest

GRACE = 15
"""Additional CPU seconds that tests may take, beyond three times their first duration."""

OPTIONS = ("-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=line")


class RecordedTest(NamedTuple):
    """A test's name, its seconds of the CPU, and the lines that it runs in each file."""

    name: str
    seconds: float
    lines: dict[str, list[int]]


class Recorder:
    """A plugin of pytest that records which lines of the files in a folder each test runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = f"{folder}{os.sep}"
        self._lines: defaultdict[str, set[int]] = defaultdict(set)
        self.records: list[RecordedTest] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Record a test, including its fixtures."""
        self._lines.clear()
        start = sum(os.times()[:4])
        threading.settrace(self._record)  # also in threads of servers that tests start
        sys.settrace(self._record)
        yield
        sys.settrace(None)
        threading.settrace(None)
        seconds = sum(os.times()[:4]) - start
        lines = {path: sorted(numbers) for path, numbers in self._lines.copy().items()}
        self.records.append(RecordedTest(item.nodeid, seconds, lines))

    def _record(self, frame: Any, event: str, argument: Any) -> Any:
        path = frame.f_code.co_filename
        if not path.startswith(self._folder):
            return None
        self._lines[path].add(frame.f_lineno)  # in the event "call" the function's first line
        return self._record


class Selection:
    """A plugin of pytest that runs some of the collected tests, in the order of their names."""

    def __init__(self, names: Sequence[str]) -> None:
        self._order = {name: order for order, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop and sort the collected tests."""
        items[:] = [item for item in items if item.nodeid in self._order]
        items.sort(key=lambda item: self._order[item.nodeid])


class CoveringTests:
    """The tests in some folders of a repository, and the lines that each of them runs.

    The package of the repository `root` must not have been imported yet; `libraries` are imported
    once. `tests` are folders and files, relative to the root. If the tests of a line take more than
    `seconds` of the CPU, the quickest of them are selected, at least one.

    # Raises

    `ValueError` if a test fails.
    """

    def __init__(
        self,
        root: Path,
        package: str,
        tests: Sequence[str],
        libraries: Sequence[str] = (),
        seconds: float = 10.0,
    ) -> None:
        self._root = root
        self._seconds = seconds
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(root))
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
        for library in libraries:
            importlib.import_module(library)
        gc.collect()
        gc.freeze()  # a garbage collection in a fork would copy all of the memory
        arguments = [*tests, "-m", "not slow and not browser"]
        passed, output = self._run(arguments, Recorder(root / package), limit=3600)
        if not passed:
            raise ValueError(f"the tests fail before any change:\n{output}")
        records = json.loads((root / "records.json").read_text())
        self.records = [RecordedTest(*record) for record in records]

    def select(self, file: Path, *lines: Optional[int]) -> list[RecordedTest]:
        """Return the quickest tests that run the first of the `lines` that any test runs.

        If no test runs any of them, the quickest tests that run any line of the file.
        """
        tests = sorted(self.records, key=lambda test: test.seconds)
        running = [test for test in tests if str(file) in test.lines]
        for line in lines:
            if any(line in test.lines[str(file)] for test in running):
                running = [test for test in running if line in test.lines[str(file)]]
                break
        totals = accumulate(test.seconds for test in running)
        number = sum(total <= self._seconds for total in totals)
        return running[: max(number, 1)]

    def run(self, tests: Sequence[RecordedTest]) -> tuple[bool, str]:
        """Run tests on the files as they are now: `True` if they pass, and pytest's output.

        They also fail if they take much longer than at first.
        """
        files = dict.fromkeys(test.name.partition("::")[0] for test in tests)
        limit = GRACE + 3 * int(sum(test.seconds for test in tests))
        return self._run([*files, "-x"], Selection([test.name for test in tests]), limit)

    def _run(self, arguments: Sequence[str], plugin: Any, limit: int) -> tuple[bool, str]:
        log = self._root / "tests.log"
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setsid()
                os.chdir(self._root)
                resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
                signal.alarm(10 * limit)  # for tests that wait without using the CPU
                output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(output, 1)
                os.dup2(output, 2)
                status = int(pytest.main([*OPTIONS, *arguments], plugins=[plugin]))
                if isinstance(plugin, Recorder):
                    Path("records.json").write_text(json.dumps(plugin.records))
                sys.stdout.flush()
            finally:
                os._exit(status)
        try:
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        finally:
            os.killpg(child, signal.SIGKILL)  # including processes that the tests left running
        return os.waitpid(child, 0)[1] == 0, log.read_text(errors="replace")


def enclosing_function(source: str, line: int) -> Optional[int]:
    """Return the first line, or decorator, of the innermost function around a line, or None."""
    first = None
    for node in ast.walk(ast.parse(source)):  # outer functions come before inner ones
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            start = min(part.lineno for part in (node, *node.decorator_list))
            if start <= line <= (node.end_lineno or start):
                first = start
    return first
