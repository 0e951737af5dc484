"""AllenNLP predictors, and the sentence encoder of an archive."""

from allennlp_sentmatch.predictors.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.predictors.sentence_pair_predictor import SentencePairPredictor

__all__ = ["SentenceEncoder", "SentencePairPredictor"]
