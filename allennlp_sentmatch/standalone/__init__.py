"""Sentence encoders that need torch, and for word pieces `tokenizers`, but not AllenNLP.

encoder = StandaloneEncoder.load("exported")
vectors = encoder.encode(["A man is asleep.", "Two dogs run."])  # (2, E)
"""

from allennlp_sentmatch.standalone.encoder import StandaloneEncoder

__all__ = ["StandaloneEncoder"]
