"""Metrics."""

from allennlp_sentmatch.training.metrics.averages import (
    MeanAveragePrecision,
    MeanCosine,
    MeanReciprocalRank,
    MeanSquaredError,
)
from allennlp_sentmatch.training.metrics.correlations import ScoreCorrelations
from allennlp_sentmatch.training.metrics.text_metrics import AnswerOverlap, Distinct, SacreBleu

__all__ = [
    "AnswerOverlap",
    "Distinct",
    "MeanAveragePrecision",
    "MeanCosine",
    "MeanReciprocalRank",
    "MeanSquaredError",
    "SacreBleu",
    "ScoreCorrelations",
]
