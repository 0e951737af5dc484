"""The contents of a wheel."""

import subprocess
import sys

from tests.conftest import REPOSITORY


def test_modules_that_are_gone_are_not_in_the_next_wheel(tmp_path):
    for name in ("setup.py", "pyproject.toml", "README.md", "allennlp_sentmatch"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    built = tmp_path / "build" / "lib.linux-x86_64-cpython-311" / "allennlp_sentmatch"
    built.mkdir(parents=True)
    for name in ("gone.py", "version.py", "_steps.abi3.so"):
        (built / name).touch()
    subprocess.run([sys.executable, "setup.py", "-q", "--name"], cwd=tmp_path, check=True)
    assert {file.name for file in built.iterdir()} == {"version.py", "_steps.abi3.so"}
