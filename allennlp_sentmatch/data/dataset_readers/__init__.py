"""Dataset readers."""

from allennlp_sentmatch.data.dataset_readers.answer_selection import AnswerSelectionReader
from allennlp_sentmatch.data.dataset_readers.parallel_text import ParallelTextReader
from allennlp_sentmatch.data.dataset_readers.reading_comprehension import ReadingComprehensionReader
from allennlp_sentmatch.data.dataset_readers.sentence_pair import SentencePairReader
from allennlp_sentmatch.data.dataset_readers.sentence_vectors import SentenceVectorsReader
from allennlp_sentmatch.data.dataset_readers.sentiment_trees import SentimentTreesReader
from allennlp_sentmatch.data.dataset_readers.single_sentence import SingleSentenceReader

__all__ = [
    "AnswerSelectionReader",
    "ParallelTextReader",
    "ReadingComprehensionReader",
    "SentencePairReader",
    "SentenceVectorsReader",
    "SentimentTreesReader",
    "SingleSentenceReader",
]
