"""Metrics."""

from allennlp_sentmatch.training.metrics.answer_overlap import AnswerOverlap
from allennlp_sentmatch.training.metrics.averages import MeanCosine, MeanSquaredError
from allennlp_sentmatch.training.metrics.distinct import Distinct
from allennlp_sentmatch.training.metrics.ranking import MeanAveragePrecision, MeanReciprocalRank
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
