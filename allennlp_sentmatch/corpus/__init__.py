"""Large collections of sentences: reading and encoding them."""

from allennlp_sentmatch.corpus.encoding import encode_corpus
from allennlp_sentmatch.corpus.reading import read_sentences

__all__ = ["encode_corpus", "read_sentences"]
