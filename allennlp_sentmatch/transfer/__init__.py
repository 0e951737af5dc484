"""Transfer of sentence vectors to other tasks: the ten of SentEval, with linear classifiers."""

from allennlp_sentmatch.transfer.benchmark import TransferBenchmark
from allennlp_sentmatch.transfer.report import TransferReport
from allennlp_sentmatch.transfer.sentence_vectors import SentenceVectors
from allennlp_sentmatch.transfer.stored_vectors import StoredVectors
from allennlp_sentmatch.transfer.tasks import TASKS, Task
from allennlp_sentmatch.transfer.word_vector_average import WordVectorAverage

__all__ = [
    "TASKS",
    "SentenceVectors",
    "StoredVectors",
    "Task",
    "TransferBenchmark",
    "TransferReport",
    "WordVectorAverage",
]
