"""The mathematics of `allennlp_sentmatch.nn` as AllenNLP components."""

from allennlp_sentmatch.modules import matchers, seq2seq_encoders, seq2vec_encoders
from allennlp_sentmatch.modules.classifier import Classifier
from allennlp_sentmatch.modules.matchers import Matcher

__all__ = ["Classifier", "Matcher", "matchers", "seq2seq_encoders", "seq2vec_encoders"]
