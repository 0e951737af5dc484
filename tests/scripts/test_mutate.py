"""Tests of the script behind `make test-mutations`, without Cosmic Ray."""

import socket
import sqlite3
import subprocess
import sys

import pytest

from scripts import mutate as mutations

DIFF = """--- mutation diff ---
--- a/tmp/x/allennlp_sentmatch/data/text.py
+++ b/tmp/x/allennlp_sentmatch/data/text.py
@@ -1,3 +1,3 @@
 def f():
-    return 1 + 2
+    return 1 - 2
"""


@pytest.fixture
def session(tmp_path):
    """A session of Cosmic Ray with four places, two mutations at each; one of them is filtered."""
    path = tmp_path / "session.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE work_items (job_id);"
            "CREATE TABLE mutation_specs (module_path, operator_name, occurrence, start_pos_row,"
            " start_pos_col, job_id);"
            "CREATE TABLE work_results (worker_outcome, output, test_outcome, diff, job_id);"
        )
        for number in range(8):
            job = f"job{number}"
            module = f"{tmp_path}/allennlp_sentmatch/data/text.py"
            place = (f"core/Operator{number}", 0, number // 2, 4)
            database.execute("INSERT INTO work_items VALUES (?)", (job,))
            values = (module, *place, job)
            database.execute("INSERT INTO mutation_specs VALUES (?, ?, ?, ?, ?, ?)", values)
        database.execute("INSERT INTO work_results VALUES ('SKIPPED', '', NULL, NULL, 'job7')")
    return path


def jobs(session, table="work_items"):
    with sqlite3.connect(session) as database:
        return {job for (job,) in database.execute(f"SELECT job_id FROM {table}")}


@pytest.mark.parametrize(("seed", "size"), [(0, None), (0, 3), (1, 3), (2, 3)])
def test_a_sample_has_one_mutation_for_each_place_and_none_that_is_filtered(session, seed, size):
    mutations.keep_a_sample(session, size, seed)
    kept = jobs(session)
    assert kept == jobs(session, "mutation_specs")
    assert jobs(session, "work_results") == set()
    if size is None:
        assert kept == {f"job{n}" for n in range(7)}
    else:
        assert len({int(job[3:]) // 2 for job in kept}) == size
        assert len(kept) == size
        assert "job7" not in kept


def test_summary(session):
    passed = "...\n3 passed in 1.00s\n"
    results = [
        ("job0", passed, "KILLED"),
        ("job1", passed, "SURVIVED"),
        ("job2", passed, "KILLED"),
    ]
    results.append(("job3", f"{mutations.NOT_PYTHON}\n", "SURVIVED"))
    results.append(("job4", "Traceback ...", "INCOMPETENT"))
    with sqlite3.connect(session) as database:
        database.execute("DELETE FROM work_results")
        values = f"VALUES (?, 'NORMAL', ?, ?, '{DIFF}')"
        columns = "job_id, worker_outcome, output, test_outcome, diff"
        database.executemany(f"INSERT INTO work_results ({columns}) {values}", results)
    survivor = {
        "place": "data/text.py:0",
        "operator": "Operator1",
        "tests": "3 passed in 1.00s",
    }
    survivor["change"] = ["-    return 1 + 2", "+    return 1 - 2"]
    assert mutations.summary(session) == {"mutations": 3, "killed": 2, "survivors": [survivor]}


class PretendedTests:
    """Tests of b.py, which fail except for line 4."""

    def select(self, file, *lines):
        return [(file.name, *lines)] if file.name == "b.py" else []

    def run(self, tests):
        return tests == [("b.py", 4, 3)], f"ran {tests[0]}"


@pytest.mark.parametrize(
    ("name", "line", "change", "expected"),
    [
        ("b.py", 2, " + 1", (1, "ran ('b.py', 2, 1)")),
        ("b.py", 4, " + 1", (0, "ran ('b.py', 4, 3)")),
        ("b.py", 2, " +", (0, mutations.NOT_PYTHON)),
        ("a.py", 2, " + 1", (0, "no test runs this module")),
    ],
)
def test_a_client_gets_the_verdict_on_the_mutation_in_the_file(
    tmp_path, name, line, change, expected
):
    modules = [tmp_path / "a.py", tmp_path / "b.py"]
    for module in modules:
        module.write_text("".join(f"def f{n}():\n    return {n}\n" for n in range(3)))
    lines = (tmp_path / name).read_text().split("\n")
    lines[line - 1] += change
    code = (
        "import pathlib, sys\n"
        f"pathlib.Path({str(tmp_path / name)!r}).write_text({chr(10).join(lines)!r})\n"
        f"{mutations.CLIENT}"
    )
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        command = [sys.executable, "-c", code, str(tmp_path / "s")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        mutations.answer(server, process, PretendedTests(), modules)
    assert (process.returncode, process.communicate()[0].strip()) == expected
