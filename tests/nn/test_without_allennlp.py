"""`allennlp_sentmatch.nn` with torch, but without allennlp and spacy."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fresh_process import run_python

REPOSITORY = Path(__file__).resolve().parents[2]

HIDE = """
import importlib.machinery
import sys

HIDDEN = {"allennlp", "allennlp_models", "spacy"}
find_spec = importlib.machinery.PathFinder.find_spec

class Hider:  # bound, as pytest takes the method for a class attribute of its own
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else find_spec(name, path, target)

importlib.machinery.PathFinder.find_spec = Hider().find_spec
"""


def run_without(code: str) -> str:
    """The output of Python code that finds none of the hidden packages."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", HIDE + code],
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    return run.stdout


def run_forked_without(code: str) -> str:
    """The same, in a fork of a process that has imported torch: two seconds of the CPU less."""
    run = run_python(f"{HIDE}sys.modules['spacy'] = None\n{code}")
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("folder", ["nn", "nn/ops"])
def test_nothing_above_is_imported(folder):
    """It is not imported even within functions: all that nn's tests call works without AllenNLP."""
    package = f"allennlp_sentmatch/{folder}"
    imported = set()
    for path in (REPOSITORY / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                imported.add(node.module)
    assert "allennlp_sentmatch.nn.ops.backends" in imported
    assert [
        name
        for name in sorted(imported)
        if name.partition(".")[0] in ("allennlp", "allennlp_models", "allennlp_sentmatch", "spacy")
        and not name.startswith(package.replace("/", "."))
    ] == []
