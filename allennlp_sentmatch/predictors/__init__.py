"""AllenNLP predictors, and the sentence encoder of an archive."""

from allennlp_sentmatch.predictors.answer_extractor_predictor import AnswerExtractorPredictor
from allennlp_sentmatch.predictors.answer_ranker_predictor import AnswerRankerPredictor
from allennlp_sentmatch.predictors.ensemble_predictor import EnsemblePredictor
from allennlp_sentmatch.predictors.export import export_encoder
from allennlp_sentmatch.predictors.pair_generator import PairGenerator
from allennlp_sentmatch.predictors.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.predictors.sentence_pair_predictor import SentencePairPredictor
from allennlp_sentmatch.predictors.sentence_vector_predictor import SentenceVectorPredictor
from allennlp_sentmatch.predictors.single_sentence_predictor import SingleSentencePredictor
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
