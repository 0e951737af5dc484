"""Register this package's components with AllenNLP, without importing AllenNLP for plain PyTorch.

After `allennlp_sentmatch` and AllenNLP are imported, in either order, every component is
registered. Importing only `allennlp_sentmatch.nn` does not import AllenNLP, which takes several
times as long as torch.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Optional

REGISTERING_PARTS = (
    "commands.subcommands",
    "compat",
    "data",
    "models",
    "modules",
    "predictors",
    "training",
    "training_compat",
    "evaluation_compat",
    "transformers_compat",
)
"""The parts of this package whose import registers every component."""

PARTS = (
    *REGISTERING_PARTS,
    "calibration",
    "commands.program",
    "comparison",
    "encoding",
    "estimators.fine_tuned_head",
    "estimators.fine_tuning_run",
    "estimators.indexed_pairs",
    "inspection",
    "serving.page",
    "serving.predictions",
    "transfer",
    "tuning",
)
"""The parts that need AllenNLP."""

INSTALL_COMMAND = "python -m allennlp_sentmatch install-allennlp"

_PACKAGE = __name__.rpartition(".")[0]
_WATCHED = {"allennlp", *(f"{_PACKAGE}.{part}" for part in PARTS)}


def register_components() -> None:
    """Register every component: at once if AllenNLP is imported, otherwise after its import."""
    if "allennlp" in sys.modules:
        _import_components()
    else:
        sys.meta_path.insert(0, _RegisteringFinder())


def _import_components() -> None:
    """Import all modules that register components."""
    for part in REGISTERING_PARTS:
        import_module(f"{_PACKAGE}.{part}")


class _RegisteringFinder(MetaPathFinder):
    """Registers the components after the first import of AllenNLP or of a part that needs it.

    If this fails, for example because a package is missing, the next import tries again.
    """

    _is_busy = False

    def find_spec(
        self,
        fullname: str,
        path: Optional[Sequence[str]] = None,
        target: Optional[ModuleType] = None,
    ) -> Optional[ModuleSpec]:
        """Return the spec that the other finders give, whose loader then registers the
        components.
        """
        if self._is_busy or fullname not in _WATCHED:
            return None
        self._is_busy = True
        try:
            spec = find_spec(fullname)
        finally:
            self._is_busy = False
        loader: Any = spec and spec.loader
        if loader is not None:
            loader.exec_module = partial(self._execute, loader.exec_module)
        return spec

    def _execute(self, execute: Callable[[ModuleType], None], module: ModuleType) -> None:
        """Execute a module, and then register the components.

        Raise `ModuleNotFoundError`, with the command that installs it, if AllenNLP is missing.
        """
        if find_spec("allennlp") is None:
            raise ModuleNotFoundError(
                f"{module.__name__} needs AllenNLP, which is not installed; type "
                f"`{INSTALL_COMMAND}`",
                name="allennlp",
            )
        self._is_busy = True  # for the module's own imports, too
        try:
            execute(module)
            _import_components()
        finally:
            self._is_busy = False
        if self in sys.meta_path:
            sys.meta_path.remove(self)
