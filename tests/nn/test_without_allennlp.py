"""`allennlp_sentmatch.nn` where torch is installed, and neither allennlp nor spacy."""

import ast
import os
import subprocess
import sys
from pathlib import Path

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


def test_the_hidden_packages_are_hidden():
    run_without(
        """
from importlib.util import find_spec

assert [name for name in HIDDEN if find_spec(name)] == []
try:
    import allennlp
except ModuleNotFoundError:
    pass
else:
    raise AssertionError("allennlp was found")
"""
    )


def test_everything_public_can_be_imported():
    run_without(
        """
import torch
import allennlp_sentmatch.nn
from allennlp_sentmatch.nn import *

assert all(name in globals() for name in allennlp_sentmatch.nn.__all__)
encoder = CellAwareLSTM(4, 3)
assert encoder(torch.zeros(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)).shape == (2, 5, 3)
"""
    )


def imports_of(folder: str) -> set[str]:
    """The modules that the files of a folder import."""
    imported = set()
    for path in (REPOSITORY / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                imported.add(node.module)
    return imported


def test_nothing_else_of_this_package_is_imported():
    """Not even within a function: what the tests of nn call works without AllenNLP as well."""
    imported = imports_of("allennlp_sentmatch/nn")
    assert "allennlp_sentmatch.nn.ops.backends" in imported
    assert [
        name
        for name in sorted(imported)
        if name.partition(".")[0] in ("allennlp", "allennlp_models", "allennlp_sentmatch", "spacy")
        and not name.startswith("allennlp_sentmatch.nn")
    ] == []


def test_the_recurrences_import_nothing_from_above_them():
    imported = imports_of("allennlp_sentmatch/nn/ops")
    assert "allennlp_sentmatch.nn.ops.backends" in imported
    assert [
        name
        for name in sorted(imported)
        if name.startswith("allennlp_sentmatch")
        and not name.startswith("allennlp_sentmatch.nn.ops")
    ] == []
