import sys
from importlib import import_module
from types import SimpleNamespace

import pytest

from tests.conftest import REPOSITORY


@pytest.fixture
def import_scripts(monkeypatch):
    """A function that imports benchmarks, which are scripts in one folder, until the test ends."""
    monkeypatch.syspath_prepend(str(REPOSITORY / "benchmarks"))
    imported = set()

    def import_these(*names: str) -> SimpleNamespace:
        imported.update(names)
        for name in names:
            monkeypatch.delitem(sys.modules, name, raising=False)
        return SimpleNamespace(**{name: import_module(name) for name in names})

    yield import_these
    for name in imported:
        del sys.modules[name]
