"""Metrics."""

from allennlp_sentmatch.training.metrics.answer_overlap import AnswerOverlap
from allennlp_sentmatch.training.metrics.averages import (
    MaskedAverage,
    MeanAveragePrecision,
    MeanCosine,
    MeanReciprocalRank,
    MeanSquaredError,
)
from allennlp_sentmatch.training.metrics.bleu import SacreBleu
from allennlp_sentmatch.training.metrics.correlations import ScoreCorrelations
from allennlp_sentmatch.training.metrics.distinct import Distinct

__all__ = [
    "AnswerOverlap",
    "Distinct",
    "MaskedAverage",
    "MeanAveragePrecision",
    "MeanCosine",
    "MeanReciprocalRank",
    "MeanSquaredError",
    "SacreBleu",
    "ScoreCorrelations",
]
