"""Readers of the data sets of sentence classification and sentence matching."""

from allennlp_sentmatch.data.dataset_readers.folds import Folds
from allennlp_sentmatch.data.dataset_readers.sentence_pair import SentencePairReader

__all__ = ["Folds", "SentencePairReader"]
