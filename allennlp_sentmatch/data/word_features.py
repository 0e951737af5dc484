"""Features of the words of two sentences, by which models compare them with few labels."""

from collections.abc import Sequence
from copy import copy
from functools import cache

import torch
from allennlp.data import DatasetReader
from torch import Tensor

from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.word_comparison import word_features


def compared_words(first: Sequence[str], second: Sequence[str]) -> Tensor:
    """Return the features (N, 16), float32, of the English words of N pairs of texts.

    `PairClassifier` has the same features with the encoder of this package.
    """
    features = word_features(first, second, "ordered", _package_encoder())
    return torch.from_numpy(features)


def without_word_features(reader: DatasetReader) -> DatasetReader:
    """Return a reader that does not make `word_features`: the given one or a copy of it."""
    if not getattr(reader, "_has_word_features", False):
        return reader
    plain = copy(reader)
    plain._has_word_features = False  # type: ignore[attr-defined]
    return plain


@cache
def _package_encoder() -> SentenceEncoder:
    """Return the encoder of this package. Draw no random numbers.

    The constructors of its layers draw their first weights. A training would depend on whether
    another one in the same process, or before `--recover`, has read data first.
    """
    with torch.random.fork_rng(devices=[]):
        return SentenceEncoder()
