"""Data loaders."""

from allennlp_sentmatch.data.data_loaders.semi_supervised import SemiSupervisedDataLoader

__all__ = ["SemiSupervisedDataLoader"]
