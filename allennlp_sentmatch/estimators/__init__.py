"""Sentence vectors and classifiers of pairs in a few lines of Python, without configuration files.

from allennlp_sentmatch import PairClassifier, PairRegressor, SentenceEncoder

AllenNLP is needed only to fine-tune an encoder, and to read an archive of AllenNLP.
"""
