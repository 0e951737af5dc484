"""Sentence encoders, matching functions and sentence-matching models for AllenNLP.

Importing the package registers every component with AllenNLP, if AllenNLP is installed.
`allennlp_sentmatch.nn` and `allennlp_sentmatch.standalone` need only torch. Neither they nor
`SentenceEncoder`, `PairClassifier` and `PairRegressor` import AllenNLP unless they need it.
"""

from typing import TYPE_CHECKING, Any

from allennlp_sentmatch.lazy_names import imported as _imported
from allennlp_sentmatch.registration import PARTS as _PARTS
from allennlp_sentmatch.registration import register_components as _register_components
from allennlp_sentmatch.version import __version__

if TYPE_CHECKING:
    from allennlp_sentmatch.corpora.deduplication import Deduplication, Duplicate, KeptText
    from allennlp_sentmatch.corpora.duplicates import find_duplicates
    from allennlp_sentmatch.corpora.sentence_collection import Found, SentenceCollection
    from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
    from allennlp_sentmatch.estimators.fine_tuning import FineTuning
    from allennlp_sentmatch.estimators.label_errors import LabelError, label_errors
    from allennlp_sentmatch.estimators.pair_classifier import PairClassifier
    from allennlp_sentmatch.estimators.pair_regressor import PairRegressor
    from allennlp_sentmatch.estimators.thresholds import Threshold

__all__ = [
    "Deduplication",
    "Duplicate",
    "FineTuning",
    "Found",
    "KeptText",
    "LabelError",
    "PairClassifier",
    "PairRegressor",
    "SentenceCollection",
    "SentenceEncoder",
    "Threshold",
    "__version__",
    "find_duplicates",
    "label_errors",
]

_ROOMS = ("commands", "corpora", "estimators", "files", "nn", "serving", "standalone")
"""The rooms that do not need AllenNLP."""

_MODULES = {
    "Deduplication": "corpora.deduplication",
    "Duplicate": "corpora.deduplication",
    "FineTuning": "estimators.fine_tuning",
    "Found": "corpora.sentence_collection",
    "KeptText": "corpora.deduplication",
    "LabelError": "estimators.label_errors",
    "PairClassifier": "estimators.pair_classifier",
    "PairRegressor": "estimators.pair_regressor",
    "SentenceCollection": "corpora.sentence_collection",
    "SentenceEncoder": "corpora.sentence_encoder",
    "Threshold": "estimators.thresholds",
    "find_duplicates": "corpora.duplicates",
    "label_errors": "estimators.label_errors",
}


def __getattr__(name: str) -> Any:
    return _imported(__name__, name, _MODULES, submodules=(*_ROOMS, *_PARTS))


def __dir__() -> list[str]:
    return [*__all__, *_ROOMS]


_register_components()
