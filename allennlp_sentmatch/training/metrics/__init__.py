"""Metrics."""

from allennlp_sentmatch.training.metrics.answer_overlap import AnswerOverlap
from allennlp_sentmatch.training.metrics.distinct import Distinct
from allennlp_sentmatch.training.metrics.mean_average_precision import MeanAveragePrecision
from allennlp_sentmatch.training.metrics.mean_cosine import MeanCosine
from allennlp_sentmatch.training.metrics.mean_reciprocal_rank import MeanReciprocalRank
from allennlp_sentmatch.training.metrics.mean_squared_error import MeanSquaredError
from allennlp_sentmatch.training.metrics.sacre_bleu import SacreBleu

__all__ = [
    "AnswerOverlap",
    "Distinct",
    "MeanAveragePrecision",
    "MeanCosine",
    "MeanReciprocalRank",
    "MeanSquaredError",
    "SacreBleu",
]
