"""Register this package's components with AllenNLP, without importing AllenNLP for plain PyTorch.

Whoever imports `allennlp_sentmatch` and AllenNLP, in either order, finds every component under its
name. Whoever imports only `allennlp_sentmatch.nn` does not wait for AllenNLP, which takes several
times as long to import as torch.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Optional

PARTS = (
    "calibration",
    "commands",
    "compat",
    "corpus",
    "data",
    "demo",
    "estimators.fine_tuning",
    "inspection",
    "models",
    "modules",
    "predictors",
    "serving",
    "training",
    "transfer",
    "transformers_compat",
    "tuning",
)
"""The parts of this package that need AllenNLP."""

REGISTERING_PARTS = (
    "commands",
    "compat",
    "data",
    "models",
    "modules",
    "predictors",
    "training",
    "transformers_compat",
)
"""The parts whose import registers every component."""

INSTALL_COMMAND = "python -m allennlp_sentmatch install-allennlp"

_PACKAGE = __name__.rpartition(".")[0]
_WATCHED = {"allennlp", *(f"{_PACKAGE}.{part}" for part in PARTS)}


def register_components() -> None:
    """Register every component: at once if AllenNLP is imported, otherwise when it is."""
    if "allennlp" in sys.modules:
        _import_components()
    else:
        sys.meta_path.insert(0, _RegisteringFinder())


def _import_components() -> None:
    for part in REGISTERING_PARTS:
        import_module(f"{_PACKAGE}.{part}")


class _RegisteringFinder(MetaPathFinder):
    """Register the components after the first import of AllenNLP or of a part that needs it."""

    def __init__(self) -> None:
        self._searching = False

    def find_spec(
        self,
        fullname: str,
        path: Optional[Sequence[str]] = None,
        target: Optional[ModuleType] = None,
    ) -> Optional[ModuleSpec]:
        """The spec that the other finders give, with a loader that registers the components."""
        if self._searching or fullname not in _WATCHED:
            return None
        self._searching = True
        try:
            spec = find_spec(fullname)
        finally:
            self._searching = False
        if spec is not None and spec.loader is not None:
            spec.loader = _RegisteringLoader(spec.loader, self)
        return spec


class _RegisteringLoader(Loader):
    """Load a module as `loader` does, then register the components."""

    def __init__(self, loader: Loader, finder: _RegisteringFinder) -> None:
        self._loader = loader
        self._finder = finder

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        """The module that the wrapped loader makes."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, whose own imports are no longer watched, and register."""
        if find_spec("allennlp") is None:
            raise ModuleNotFoundError(
                f"{module.__name__} needs AllenNLP, which is not installed; type "
                f"`{INSTALL_COMMAND}`",
                name="allennlp",
            )
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _import_components()
