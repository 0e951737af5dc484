"""Let AllenNLP 2.10.1 start on a torch that it does not know, and find `allennlp_sentmatch`.

`python -m allennlp_sentmatch install-allennlp` copies this module into site-packages, with a `.pth`
file that imports it when Python starts. Nothing changes for programs that do not import AllenNLP:

- AllenNLP imports torchvision for its image loaders, which are not needed for text. If torchvision
  is not installed, a process that has begun to import AllenNLP finds an empty module instead, whose
  functions raise an error that says what is missing. Other packages in this process
  find it, too. In all other processes torchvision remains absent.
- fairscale 0.4.6, which AllenNLP imports, calls functions that torch has deprecated. Users of
  AllenNLP cannot do anything about these warnings, so they are ignored while it is imported.
- AllenNLP's plugins include `allennlp_sentmatch`, without a file that names it. They are imported
  for `allennlp diff`, too.
- If another package prevents the import of AllenNLP, the program `allennlp` names it.
"""

import os
import sys
import types
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from itertools import chain
from pathlib import Path
from typing import Any, Callable, NoReturn, Optional

PLUGIN = "allennlp_sentmatch"

MESSAGE = (
    "{name} was called, but torchvision is not installed; install the torchvision that matches "
    "torch to work with images in AllenNLP"
)


class _StandIn(types.ModuleType):
    """A module, function or class that torchvision would have."""

    __version__ = "0.0"
    __path__: list[str] = []

    def __getattr__(self, name: str) -> "_StandIn":
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn(f"{self.__name__}.{name}")

    def __call__(self, *arguments: object, **options: object) -> NoReturn:
        raise NotImplementedError(MESSAGE.format(name=self.__name__))


class _TorchvisionFinder:
    """Finds torchvision once AllenNLP is being imported, if no earlier finder does."""

    @staticmethod
    def find_spec(
        fullname: str, path: Optional[Sequence[str]] = None, target: Any = None
    ) -> Optional[ModuleSpec]:
        if fullname.partition(".")[0] != "torchvision" or "allennlp" not in sys.modules:
            return None
        return ModuleSpec(fullname, _TorchvisionFinder, is_package=True)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> types.ModuleType:
        return _StandIn(spec.name)

    @staticmethod
    def exec_module(module: types.ModuleType) -> None:
        """Do nothing: the module has no contents."""


Execute = Callable[[types.ModuleType], None]


def _execute_plugins(execute: Execute, module: types.ModuleType) -> None:
    execute(module)
    discover: Callable[[], Iterable[str]] = module.discover_plugins
    module.discover_plugins = lambda: chain(  # type: ignore[attr-defined]
        [PLUGIN], (plugin for plugin in discover() if plugin != PLUGIN)
    )


def _execute_commands(execute: Execute, module: types.ModuleType) -> None:
    try:
        execute(module)
    except Exception as error:
        program = Path(sys.argv[0])
        is_allennlp = "allennlp" in (program.stem, program.parent.name)
        if not is_allennlp or os.environ.get("ALLENNLP_DEBUG"):
            raise
        del sys.modules["allennlp"]  # the package would add its components to AllenNLP
        from allennlp_sentmatch.installation import why_broken

        sys.exit(f"allennlp: error: {why_broken(error)}.")
    # `allennlp_sentmatch` repairs it; AllenNLP would not import a plugin for this command.
    module.Diff.requires_plugins = True


def _execute_without_warnings(execute: Execute, module: types.ModuleType) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        execute(module)


EXECUTIONS = {
    "allennlp.common.plugins": _execute_plugins,
    "allennlp.commands": _execute_commands,
    "fairscale": _execute_without_warnings,
}
"""Modules that are executed differently, once AllenNLP is being imported."""


class _AllenNLPFinder:
    """Finds the modules in `EXECUTIONS` as Python does, and executes them differently."""

    @staticmethod
    def find_spec(
        fullname: str, path: Optional[Sequence[str]] = None, target: Any = None
    ) -> Optional[ModuleSpec]:
        if fullname not in EXECUTIONS or "allennlp" not in sys.modules:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        loader: Any = spec and spec.loader
        if loader is not None:
            loader.exec_module = partial(EXECUTIONS[fullname], loader.exec_module)
        return spec


if _TorchvisionFinder not in sys.meta_path:
    sys.meta_path.insert(0, _AllenNLPFinder)
    sys.meta_path.append(_TorchvisionFinder)
