"""Texts in large numbers: their vectors on disk, indexes, search and duplicates.

Whatever has a method `encode` may be the encoder. Modules are imported when a name of theirs is
first used: a program that only encodes needs none of those that search or find duplicates.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allennlp_sentmatch.corpora.corpus import encode_corpus
    from allennlp_sentmatch.corpora.duplicates import find_duplicates
    from allennlp_sentmatch.corpora.index_kinds import IndexKind
    from allennlp_sentmatch.corpora.ray_encoder import RayEncoder
    from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
    from allennlp_sentmatch.corpora.sentence_index import SentenceIndex
    from allennlp_sentmatch.corpora.sentence_search import Neighbor, SentenceSearch

__all__ = [
    "IndexKind",
    "Neighbor",
    "RayEncoder",
    "SentenceEncoder",
    "SentenceIndex",
    "SentenceSearch",
    "encode_corpus",
    "find_duplicates",
]

_MODULES = {
    "IndexKind": "index_kinds",
    "Neighbor": "sentence_search",
    "RayEncoder": "ray_encoder",
    "SentenceEncoder": "sentence_encoder",
    "SentenceIndex": "sentence_index",
    "SentenceSearch": "sentence_search",
    "encode_corpus": "corpus",
    "find_duplicates": "duplicates",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(_import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
