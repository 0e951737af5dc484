"""Change the code in one place at a time, and report the changes that no test detects.

    python -m scripts.mutate models/esim.py
    python -m scripts.mutate data training --sample 60 --seed 1 --output result.json

The mutations are Cosmic Ray's, made in a copy of the repository. Its test command asks this process
to run the tests, in a fork that need not import AllenNLP again. The tests of models/ are in
tests/models/. They run once without mutations; each mutation is then tested by the quickest tests
that run the mutated line, otherwise the function around it, otherwise its module. Tests that run it
only in another process do not count.

`--sample` draws places in the code, then one mutation for each: a single `+` has eleven mutations,
most of which every test notices.
"""

import argparse
import compileall
import json
import random
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any, Optional

from scripts.covering_tests import CoveringTests, enclosing_function

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = "allennlp_sentmatch"
LIBRARIES = (
    "allennlp.commands",
    "allennlp.common.cached_transformers",
    "sacrebleu",
    "sacremoses",
    "scipy.stats",
    "sklearn.metrics",
    "spacy",
    "torch",
    "transformers.models.auto.modeling_auto",
    "hypothesis",
    "_hypothesis_pytestplugin",
    "anyio.pytest_plugin",
    "pdb",
    "xdist.plugin",
)

CONFIGURATION = """[cosmic-ray]
module-path = {modules}
timeout = 3600.0
excluded-modules = []
test-command = {command}

[cosmic-ray.distributor]
name = "local"

[cosmic-ray.filters.operators-filter]
exclude-operators = [  # which change nothing for None and small numbers
    "core/ReplaceComparisonOperator_(Is_Eq|IsNot_NotEq|Eq_Is|NotEq_IsNot)",
]
"""

NOT_PYTHON = "this is not Python"
"""The output for mutations that do not compile, such as those of `*` in a parameter list."""

CLIENT = """import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
answer = connection.makefile("rb").read()
print(answer[1:].decode())
sys.exit(answer[0])
"""


def main() -> None:
    """Mutate modules and print the mutations that survive."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", help=f"modules or folders under {PACKAGE}/")
    parser.add_argument("--sample", type=int, help="mutate this many places, drawn at random")
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="of the draw (default: 0)",
    )
    parser.add_argument("--output", type=Path, help="write the result to this JSON file")
    parser.add_argument("--cosmic-ray", default="cosmic-ray", help="the program")
    arguments = parser.parse_args()
    paths = list(map(Path, arguments.paths))
    folders = dict.fromkeys(path.parent if path.suffix else path for path in paths)
    program = Path(shutil.which(arguments.cosmic_ray) or arguments.cosmic_ray).absolute()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "repository").resolve()
        ignored = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "out", "__pycache__")
        shutil.copytree(REPOSITORY, copy, ignore=ignored)
        # By hash: a mutation may change neither a file's size nor its time, to the second.
        compileall.compile_dir(copy, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        tests = CoveringTests(copy, PACKAGE, [f"tests/{path}" for path in folders], LIBRARIES)
        found = [copy / PACKAGE / path for path in paths]
        modules = [m for x in found for m in (sorted(x.rglob("*.py")) if x.is_dir() else [x])]
        session = mutate(program, copy, modules, tests, arguments.sample, arguments.seed)
        result = {"seed": arguments.seed, **summary(session)}
    for survivor in result["survivors"]:
        print(survivor["place"], survivor["operator"], f"({survivor['tests']})")
        print(*survivor["change"], sep="\n")
    print(f"{result['killed']} of {result['mutations']} mutations were killed")
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n")


def mutate(
    program: Path,
    copy: Path,
    modules: Sequence[Path],
    tests: CoveringTests,
    sample: Optional[int],
    seed: int,
) -> Path:
    """Run Cosmic Ray in a copy of the repository, and return the file of its session."""
    configuration = copy / "mutations.toml"
    session = copy / "mutations.sqlite"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(copy.with_name("socket")))
        server.listen()
        command = json.dumps(shlex.join([sys.executable, "-S", "-c", CLIENT, server.getsockname()]))
        names = json.dumps(list(map(str, modules)))
        configuration.write_text(CONFIGURATION.format(modules=names, command=command))
        skip = program.with_name("cr-filter-operators")
        subprocess.run([program, "init", configuration, session], cwd=copy, check=True)
        subprocess.run([skip, session, configuration], cwd=copy, check=True)
        keep_a_sample(session, sample, seed)
        process = subprocess.Popen([program, "exec", configuration, session], cwd=copy)
        try:
            answer(server, process, tests, modules)
        finally:
            process.kill()
    return session


def answer(
    server: socket.socket,
    process: subprocess.Popen[bytes],
    tests: CoveringTests,
    modules: Sequence[Path],
) -> None:
    """Run the tests of a mutation each time a client asks, until Cosmic Ray is done."""
    sources = {module: module.read_text() for module in modules}
    server.settimeout(1)
    while process.poll() is None:
        try:
            connection, _ = server.accept()
        except socket.timeout:
            continue
        module, mutated = next(
            (module, text) for module in modules if (text := module.read_text()) != sources[module]
        )
        passed, output = run_tests(tests, module, sources[module], mutated)
        with connection:
            connection.sendall(bytes([not passed]) + output.encode())


def run_tests(tests: CoveringTests, module: Path, source: str, mutated: str) -> tuple[bool, str]:
    """Run the tests of a mutation: `True` if they pass, and their output."""
    try:
        compile(mutated, str(module), "exec")
    except SyntaxError:
        return True, NOT_PYTHON
    lines = enumerate(zip(source.split("\n"), mutated.split("\n")), start=1)
    line = next(number for number, (before, after) in lines if before != after)
    selected = tests.select(module, line, enclosing_function(source, line))
    return tests.run(selected) if selected else (True, "no test runs this module")


def keep_a_sample(session: Path, size: Optional[int], seed: int) -> None:
    """Keep one mutation for each of `size` places, without those that a filter skips."""
    with sqlite3.connect(session) as database:
        places = defaultdict(list)
        for job, *place, operator, occurrence in database.execute(
            "SELECT job_id, module_path, start_pos_row, start_pos_col, operator_name, occurrence"
            " FROM mutation_specs WHERE job_id NOT IN (SELECT job_id FROM work_results)"
        ):
            parts = Path(place[0]).parts
            path = "/".join(parts[parts.index(PACKAGE) :])
            places[(path, *place[1:])].append((operator, occurrence, job))
        kept = {job for mutations in places.values() for *_, job in mutations}
        if size is not None:
            draw = random.Random(seed)
            drawn = draw.sample(sorted(places), min(size, len(places)))
            kept = {draw.choice(sorted(places[place]))[-1] for place in drawn}
        jobs = {job for (job,) in database.execute("SELECT job_id FROM work_items")}
        for table in ("work_results", "mutation_specs", "work_items"):
            others = [(job,) for job in jobs - kept]
            database.executemany(f"DELETE FROM {table} WHERE job_id = ?", others)


def summary(session: Path) -> dict[str, Any]:
    """Return the numbers of a session's tested and killed mutations, and those that survived."""
    with sqlite3.connect(session) as database:
        rows = database.execute(
            "SELECT module_path, start_pos_row, operator_name, test_outcome, diff, output"
            " FROM mutation_specs JOIN work_results USING (job_id)"
            " WHERE test_outcome IN ('KILLED', 'SURVIVED') AND trim(output, ?) != ?"
            " ORDER BY 1, 2, 3",
            ("\n", NOT_PYTHON),
        ).fetchall()
    survivors = [
        {
            "place": f"{Path(module).as_posix().rpartition(f'{PACKAGE}/')[2]}:{line}",
            "operator": operator.rpartition("/")[2],
            "change": [text for text in diff.split("\n")[3:] if text.startswith(("-", "+"))],
            "tests": output.strip().rpartition("\n")[2],
        }
        for module, line, operator, outcome, diff, output in rows
        if outcome == "SURVIVED"
    ]
    return {"mutations": len(rows), "killed": len(rows) - len(survivors), "survivors": survivors}


if __name__ == "__main__":
    main()
