"""Transfer of sentence vectors to other tasks, SentEval's ten and others, by linear classifiers."""

from allennlp_sentmatch.transfer.benchmark import TransferBenchmark
from allennlp_sentmatch.transfer.report import TransferReport
from allennlp_sentmatch.transfer.sentence_vectors import (
    SentenceVectors,
    StoredVectors,
    WordVectorAverage,
)
from allennlp_sentmatch.transfer.tasks import TASKS, TransferTask, own_task

__all__ = [
    "TASKS",
    "SentenceVectors",
    "StoredVectors",
    "TransferBenchmark",
    "TransferReport",
    "TransferTask",
    "WordVectorAverage",
    "own_task",
]
