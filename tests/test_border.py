"""Rooms that do not need AllenNLP never import it; no module imports it only for an exception."""

import ast

import pytest

from tests.conftest import REPOSITORY
from tests.fresh_process import run_python

PACKAGE = REPOSITORY / "allennlp_sentmatch"

WITHOUT_ALLENNLP = """
import sys
from importlib import import_module
from importlib.machinery import PathFinder
find_spec = PathFinder.find_spec
def find_others(name, path=None, target=None):
    return None if name == "allennlp" else find_spec(name, path, target)
PathFinder.find_spec = find_others
from pkgutil import walk_packages
import allennlp_sentmatch
from allennlp_sentmatch.registration import PARTS
imported = []
for room in ("files", "corpora", "standalone", "estimators", "serving", "nn", "commands"):
    package = import_module(f"allennlp_sentmatch.{room}")
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        is_library = module.name.endswith("._steps")
        if module.name.partition(".")[2] not in PARTS and not is_library:
            import_module(module.name)
            imported.append(module.name)
assert len(imported) > 100, imported
import allennlp_sentmatch.__main__
assert not [name for name in sys.modules if name.startswith("allennlp.")]
from allennlp_sentmatch.errors import ConfigurationError
assert ConfigurationError is ValueError
"""

NEEDED = (
    "commands/program.py",
    "commands/subcommands.py",
    "estimators/fine_tuned_head.py",
    "estimators/fine_tuning_run.py",
    "estimators/indexed_pairs.py",
    "serving/page.py",
    "serving/predictions.py",
)
"""The modules of the rooms below that need AllenNLP."""


def test_the_rooms_work_where_allennlp_is_not_installed():
    result = run_python(WITHOUT_ALLENNLP)
    assert result.returncode == 0, result.stderr


def imported_from_allennlp(tree):
    """The names that a module imports from AllenNLP, and the lines of the imports at its top."""
    names = set()
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "allennlp":
            names |= {alias.name for alias in node.names}
            if node in tree.body:
                lines.append(node.lineno)
    return names, lines


@pytest.mark.parametrize(
    "room", ["files", "corpora", "standalone", "estimators", "serving", "nn", "commands"]
)
def test_the_rooms_do_not_import_allennlp_at_the_top(room):
    """This also holds if it is installed, since it takes seconds to import."""
    for path in sorted((PACKAGE / room).rglob("*.py")):
        if str(path.relative_to(PACKAGE)) not in NEEDED:
            _, lines = imported_from_allennlp(ast.parse(path.read_text("utf-8")))
            assert not lines, (path, lines)


def test_no_module_imports_allennlp_for_an_exception_alone():
    """Nor is it imported for its progress bar, or for grouping iterables."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name == "errors.py":
            continue
        names, _ = imported_from_allennlp(ast.parse(path.read_text("utf-8")))
        assert not names or names - {"ConfigurationError", "Tqdm", "lazy_groups_of"}, path
