"""Comparisons of two sets of trained models, and the differences that the data could have shown."""

from allennlp_sentmatch.comparison.compare_archives import compare_archives
from allennlp_sentmatch.comparison.statistics import Comparison, compare, holm

__all__ = ["Comparison", "compare", "compare_archives", "holm"]
