"""Sentence encoders, matching functions and sentence-matching models for AllenNLP.

Importing the package registers every component with AllenNLP where AllenNLP is installed.
`allennlp_sentmatch.nn` and `allennlp_sentmatch.standalone` need nothing but torch and do not import
AllenNLP.
"""

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from allennlp_sentmatch.registration import PARTS as _PARTS
from allennlp_sentmatch.registration import register_components as _register_components
from allennlp_sentmatch.version import __version__

__all__ = ["__version__"]


def __getattr__(name: str) -> _ModuleType:
    if name in ("nn", "standalone") or name in _PARTS:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_register_components()
