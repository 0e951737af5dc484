"""The layers of R-NET (Wang et al., 2017), and the search for the best answer."""

from allennlp_sentmatch.nn.reading_comprehension.best_spans import BestSpans, best_spans
from allennlp_sentmatch.nn.reading_comprehension.gated_matching import GatedMatching
from allennlp_sentmatch.nn.reading_comprehension.gated_self_matching import GatedSelfMatching
from allennlp_sentmatch.nn.reading_comprehension.passage_windows import PassageWindows
from allennlp_sentmatch.nn.reading_comprehension.pointer_network import PointerNetwork
from allennlp_sentmatch.nn.reading_comprehension.question_pooling import QuestionPooling

__all__ = [
    "BestSpans",
    "GatedMatching",
    "GatedSelfMatching",
    "PassageWindows",
    "PointerNetwork",
    "QuestionPooling",
    "best_spans",
]
