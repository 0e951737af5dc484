"""The interpreter that `make` chooses, among fake ones."""

import os
import shutil
import subprocess

import pytest

from tests.conftest import REPOSITORY


def dry_run(folder, pythons):
    """Run `make --dry-run install` with only these interpreters, of which those with True run."""
    for name in ("env", "find", "getconf", "make", "sh"):  # what make and the recipes call
        (folder / name).symlink_to(shutil.which(name))
    for name, runs in pythons.items():
        (folder / name).write_text(f"#!/bin/sh\nexit {0 if runs else 127}\n")
        (folder / name).chmod(0o755)
    for name in ("Makefile", "requirements", "pyproject.toml", "setup.py", "allennlp_sentmatch"):
        (folder / name).symlink_to(REPOSITORY / name)
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "PYTHON")}
    return subprocess.run(
        ["make", "--dry-run", "install"],
        cwd=folder,
        env={**environment, "PATH": str(folder)},
        capture_output=True,
        text=True,
    )


pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.mark.parametrize(
    ("pythons", "taken"),
    [
        ({"python3.11": True, "python3.12": True}, "python3.11"),
        ({"python3.11": False, "python3.12": True}, "python3.12"),  # like pyenv's shims
        ({"python3.10": True, "python3.13": True, "python3.12": False}, "python3.13"),
    ],
)
def test_the_first_python_that_runs_is_taken_and_named(tmp_path, pythons, taken):
    made = dry_run(tmp_path, pythons)
    assert made.returncode == 0, made.stderr
    assert f"on {tmp_path / taken} (once" in made.stdout
    assert f"{tmp_path / taken} -m venv .venv" in made.stdout


def test_without_a_python_one_sentence_says_what_to_install(tmp_path):
    made = dry_run(tmp_path, {"python3.10": True, "python3.11": False})
    assert made.returncode == 2
    (sentence,) = made.stderr.splitlines()
    assert "None of python3.11, python3.12 and python3.13 runs here with the module" in sentence
