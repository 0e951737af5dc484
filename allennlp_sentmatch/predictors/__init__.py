"""AllenNLP predictors: from JSON to predictions."""

from allennlp_sentmatch.predictors.answer_predictors import (
    AnswerExtractorPredictor,
    AnswerRankerPredictor,
)
from allennlp_sentmatch.predictors.classification_predictor import (
    EnsemblePredictor,
    SentencePairPredictor,
    SingleSentencePredictor,
)
from allennlp_sentmatch.predictors.pair_generator import PairGenerator
from allennlp_sentmatch.predictors.sentence_vector_predictor import SentenceVectorPredictor
from allennlp_sentmatch.predictors.translation_predictor import TranslationPredictor

__all__ = [
    "AnswerExtractorPredictor",
    "AnswerRankerPredictor",
    "EnsemblePredictor",
    "PairGenerator",
    "SentencePairPredictor",
    "SentenceVectorPredictor",
    "SingleSentencePredictor",
    "TranslationPredictor",
]
