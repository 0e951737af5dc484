"""AllenNLP predictors, and the sentence encoder of an archive."""

from allennlp_sentmatch.predictors.answer_predictors import (
    AnswerExtractorPredictor,
    AnswerRankerPredictor,
)
from allennlp_sentmatch.predictors.classification_predictor import (
    EnsemblePredictor,
    SentencePairPredictor,
    SingleSentencePredictor,
)
from allennlp_sentmatch.predictors.export import export_encoder
from allennlp_sentmatch.predictors.pair_generator import PairGenerator
from allennlp_sentmatch.predictors.sentence_encoder import SentenceEncoder, SentenceVectorPredictor
from allennlp_sentmatch.predictors.translation_predictor import TranslationPredictor

__all__ = [
    "AnswerExtractorPredictor",
    "AnswerRankerPredictor",
    "EnsemblePredictor",
    "PairGenerator",
    "SentenceEncoder",
    "SentencePairPredictor",
    "SentenceVectorPredictor",
    "SingleSentencePredictor",
    "TranslationPredictor",
    "export_encoder",
]
