"""Matching functions as AllenNLP components."""

from allennlp_sentmatch.modules.matchers.concat_matcher import ConcatMatcher
from allennlp_sentmatch.modules.matchers.elbis_matcher import ElBiSMatcher
from allennlp_sentmatch.modules.matchers.heuristic_difference_matcher import (
    HeuristicDifferenceMatcher,
)
from allennlp_sentmatch.modules.matchers.heuristic_matcher import HeuristicMatcher
from allennlp_sentmatch.modules.matchers.highway_matcher import HighwayMatcher
from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.modules.matchers.sum_difference_matcher import SumDifferenceMatcher
from allennlp_sentmatch.modules.matchers.symmetric_matcher import SymmetricMatcher

__all__ = [
    "ConcatMatcher",
    "ElBiSMatcher",
    "HeuristicDifferenceMatcher",
    "HeuristicMatcher",
    "HighwayMatcher",
    "Matcher",
    "SumDifferenceMatcher",
    "SymmetricMatcher",
]
