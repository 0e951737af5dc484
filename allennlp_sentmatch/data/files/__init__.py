"""Files: tables, JSON lines, treebanks, and folds of them."""

from allennlp_sentmatch.data.files.folds import Folds

__all__ = ["Folds"]
