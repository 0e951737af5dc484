"""Let AllenNLP 2.10.1 start on a torch that it does not know.

`python -m allennlp_sentmatch install-allennlp` copies this module into site-packages, with a `.pth`
file that imports it when Python starts. Nothing changes for programs that do not import AllenNLP:

- AllenNLP imports torchvision for its image loaders, which are not needed for text. Where
  torchvision is not installed, a process that has begun to import AllenNLP finds an empty module
  instead, whose functions raise an error that says what is missing. Other packages in this process
  find it, too. In all other processes torchvision remains absent.
- fairscale 0.4.6, which AllenNLP imports, calls two functions that torch has deprecated. Users of
  AllenNLP cannot do anything about these warnings, so these alone are ignored.
"""

import sys
import types
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any, NoReturn, Optional

MESSAGE = (
    "{name} was called, but torchvision is not installed; install the torchvision that matches "
    "torch to work with images in AllenNLP"
)


class _Missing:
    """A missing function or class of torchvision."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "_Missing":
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self._name}.{name}")

    def __call__(self, *arguments: object, **options: object) -> NoReturn:
        raise NotImplementedError(MESSAGE.format(name=self._name))


class _StandIn(types.ModuleType):
    """A module of torchvision without contents."""

    __version__ = "0.0"
    __path__: list[str] = []

    def __getattr__(self, name: str) -> _Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self.__name__}.{name}")


class TorchvisionFinder:
    """Finds torchvision once AllenNLP is being imported, if no earlier finder does."""

    @staticmethod
    def find_spec(
        fullname: str, path: Optional[Sequence[str]] = None, target: Any = None
    ) -> Optional[ModuleSpec]:
        """The spec of the stand-in, from the beginning of AllenNLP's import on."""
        if fullname.partition(".")[0] != "torchvision" or "allennlp" not in sys.modules:
            return None
        return ModuleSpec(fullname, TorchvisionFinder, is_package=True)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> types.ModuleType:
        """An empty module."""
        return _StandIn(spec.name)

    @staticmethod
    def exec_module(module: types.ModuleType) -> None:
        """Do nothing: the module has no contents."""


if TorchvisionFinder not in sys.meta_path:
    sys.meta_path.append(TorchvisionFinder)
    warnings.filterwarnings(
        "ignore", message=r"`torch\.cuda\.amp\.custom_(fwd|bwd)", category=FutureWarning
    )
