"""Texts in large numbers: their vectors on disk, indexes, search and duplicates.

Any object with a method `encode` can be the encoder. A module is imported when one of its names is
first used, so that a program that only encodes does not import the code for searching and for
duplicates.
"""

from typing import TYPE_CHECKING, Any

from allennlp_sentmatch.lazy_names import imported as _imported

if TYPE_CHECKING:
    from allennlp_sentmatch.corpora.corpus import encode_corpus
    from allennlp_sentmatch.corpora.index_kinds import IndexKind
    from allennlp_sentmatch.corpora.ray_encoder import RayEncoder
    from allennlp_sentmatch.corpora.sentence_index import SentenceIndex
    from allennlp_sentmatch.corpora.sentence_search import Neighbor, SentenceSearch

__all__ = [
    "IndexKind",
    "Neighbor",
    "RayEncoder",
    "SentenceIndex",
    "SentenceSearch",
    "encode_corpus",
]

_MODULES = {
    "IndexKind": "index_kinds",
    "Neighbor": "sentence_search",
    "RayEncoder": "ray_encoder",
    "SentenceIndex": "sentence_index",
    "SentenceSearch": "sentence_search",
    "encode_corpus": "corpus",
}


def __getattr__(name: str) -> Any:
    return _imported(__name__, name, _MODULES)


def __dir__() -> list[str]:
    return __all__
