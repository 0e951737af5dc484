"""The names of a package whose modules are imported when a name is first used."""

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any


def imported(
    package: str,
    name: str,
    modules: Mapping[str, str],
    submodules: Collection[str] = (),
) -> Any:
    """Return what a package has under a name, for its `__getattr__`.

    `modules` has the module of each name, below the package, and `submodules` those that are names
    themselves. Raise `AttributeError`, as Python does, for any other name.
    """
    if name in submodules:
        return import_module(f"{package}.{name}")
    if name in modules:
        return getattr(import_module(f"{package}.{modules[name]}"), name)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
