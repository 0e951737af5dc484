"""From two sentence vectors to a similarity score, as AllenNLP components."""

from allennlp_sentmatch.modules.pair_scorers.cosine_scorer import CosineScorer
from allennlp_sentmatch.modules.pair_scorers.graded_scorer import GradedScorer
from allennlp_sentmatch.modules.pair_scorers.pair_scorer import PairScorer

__all__ = ["CosineScorer", "GradedScorer", "PairScorer"]
