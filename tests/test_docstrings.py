"""The defaults in docstrings equal those of the signatures."""

import ast
import re

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "allennlp_sentmatch"
_STATED = re.compile(r"^ *(\w+) : .*optional \(default = `(.*)`\)\.?$", re.MULTILINE)


def functions(source):
    """Pairs of a docstring and the function it documents: a class's is its constructor's."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    yield ast.get_docstring(node), part
        elif isinstance(node, ast.FunctionDef):
            yield ast.get_docstring(node), node


def different_defaults(source):
    """The literal defaults that differ from a docstring."""
    different = []
    for docstring, function in functions(source):
        arguments = function.args
        defaults = dict(zip([a.arg for a in arguments.args[::-1]], arguments.defaults[::-1]))
        defaults.update(zip([a.arg for a in arguments.kwonlyargs], arguments.kw_defaults))
        for name, stated in _STATED.findall(docstring or ""):
            default = defaults.get(name)
            if default is None:
                different.append(f"{function.name}: {name} has no default")
                continue
            try:
                value = ast.literal_eval(default)
            except ValueError:  # a name or a call
                continue
            # None may represent the documented default.
            if value is not None and ast.literal_eval(stated) != value:
                different.append(f"{function.name}: {name} = {value!r}, not {stated}")
    return different


def test_another_default_is_found():
    source = """
class A:
    \"\"\"a : `int`, optional (default = `1`)
    b : `str`, optional (default = `"x"`)
    c : `int`, optional (default = `2`)
    \"\"\"
    def __init__(self, a=2, b="x", *, c): ...
"""
    assert different_defaults(source) == ["__init__: a = 2, not 1", "__init__: c has no default"]


def test_stated_defaults():
    for path in PACKAGE.rglob("*.py"):
        assert different_defaults(path.read_text(encoding="utf-8")) == [], path
