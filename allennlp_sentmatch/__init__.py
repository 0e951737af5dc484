"""Sentence encoders, matching functions and sentence-matching models for AllenNLP.

Importing the package registers every component with AllenNLP where AllenNLP is installed.
`allennlp_sentmatch.nn` and `allennlp_sentmatch.standalone` need nothing but torch, and neither they
nor `SentenceEncoder`, `PairClassifier` and `PairRegressor` import AllenNLP, unless they need it.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from allennlp_sentmatch.registration import PARTS as _PARTS
from allennlp_sentmatch.registration import register_components as _register_components
from allennlp_sentmatch.version import __version__

if TYPE_CHECKING:
    from allennlp_sentmatch.estimators.duplicates import find_duplicates
    from allennlp_sentmatch.estimators.fine_tuning import FineTuning
    from allennlp_sentmatch.estimators.pair_estimators import PairClassifier, PairRegressor
    from allennlp_sentmatch.estimators.sentence_encoder import SentenceEncoder

__all__ = [
    "FineTuning",
    "PairClassifier",
    "PairRegressor",
    "SentenceEncoder",
    "__version__",
    "find_duplicates",
]

_ESTIMATORS = {
    "FineTuning": "fine_tuning",
    "PairClassifier": "pair_estimators",
    "PairRegressor": "pair_estimators",
    "SentenceEncoder": "sentence_encoder",
    "find_duplicates": "duplicates",
}


def __getattr__(name: str) -> Any:
    if name in ("estimators", "nn", "serving", "standalone") or name in _PARTS:
        return _import_module(f"{__name__}.{name}")
    if name in _ESTIMATORS:
        return getattr(_import_module(f"{__name__}.estimators.{_ESTIMATORS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_register_components()
