"""Let AllenNLP 2.10.1 start on a torch that it does not know.

`python -m allennlp_sentmatch install-allennlp` copies this module into site-packages, with a `.pth`
file that imports it when Python starts. Nothing changes for programs that do not import AllenNLP:

- AllenNLP imports torchvision for its image loaders, which text never calls. Where torchvision is
  not installed, importing it from AllenNLP gives a module whose functions raise an error that says
  what is missing. For everybody else torchvision remains absent.
- fairscale 0.4.6, which AllenNLP imports, calls two functions that torch has deprecated. Nobody who
  types `allennlp` can act on that warning, so it, and only it, is ignored.
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
    """A function or class of torchvision that is not there."""

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
    """Find torchvision for AllenNLP where the finders before this one do not."""

    @staticmethod
    def find_spec(
        fullname: str, path: Optional[Sequence[str]] = None, target: Any = None
    ) -> Optional[ModuleSpec]:
        """The stand-in's spec while AllenNLP is being imported, and later."""
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
