"""Changes lines of a module, one at a time, and reports which ones its tests notice.

    python scripts/test_mutations.py models/esim.py --sample 20

The mutations are Cosmic Ray's. They are made in a copy of the repository; the tests are those that
mirror the module, tests/models/test_esim.py for instance.
"""

import argparse
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]

CONFIGURATION = """[cosmic-ray]
module-path = "allennlp_sentmatch/{module}"
timeout = 600.0
excluded-modules = []
test-command = "{python} -m pytest -q -x -p no:cacheprovider {tests}"

[cosmic-ray.distributor]
name = "local"
"""


def main() -> None:
    """Run the mutations of one module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", help="path under allennlp_sentmatch/")
    parser.add_argument("--sample", type=int, help="this many mutations, drawn at random; or all")
    parser.add_argument("--cosmic-ray", default="cosmic-ray", help="the program")
    arguments = parser.parse_args()
    program = Path(shutil.which(arguments.cosmic_ray) or arguments.cosmic_ray).absolute()
    module = Path(arguments.module)
    tests = Path("tests", module.parent, f"test_{module.name}")
    if not (REPOSITORY / tests).is_file():
        parser.error(f"there is no {tests}")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "repository")
        ignored = shutil.ignore_patterns(".git", ".venv", "out", "__pycache__")
        shutil.copytree(REPOSITORY, copy, ignore=ignored)
        (copy / "mutations.toml").write_text(
            CONFIGURATION.format(module=module, python=sys.executable, tests=tests)
        )

        def cosmic_ray(*options: str) -> None:
            environment = ["env", f"PYTHONPATH={copy}"]
            command = [*environment, program, *options]
            subprocess.run(command, cwd=copy, check=True)

        cosmic_ray("init", "mutations.toml", "mutations.sqlite")
        if arguments.sample is not None:
            keep_a_sample(copy / "mutations.sqlite", arguments.sample)
        cosmic_ray("exec", "mutations.toml", "mutations.sqlite")
        report = program.with_name("cr-report")
        subprocess.run([report, "--show-diff", "mutations.sqlite"], cwd=copy)


def keep_a_sample(session: Path, size: int) -> None:
    """Remove all but `size` mutations from a session."""
    with sqlite3.connect(session) as database:
        jobs = sorted(job for (job,) in database.execute("SELECT job_id FROM work_items"))
        for job in set(jobs) - set(random.Random(0).sample(jobs, min(size, len(jobs)))):
            database.execute("DELETE FROM mutation_specs WHERE job_id = ?", (job,))
            database.execute("DELETE FROM work_items WHERE job_id = ?", (job,))


if __name__ == "__main__":
    main()
