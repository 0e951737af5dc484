"""Sentence encoders that need torch alone: what `allennlp export` writes.

encoder = StandaloneEncoder.load("exported")
vectors = encoder.encode(["A man is asleep.", "Two dogs run."])  # (2, E)
"""

from allennlp_sentmatch.standalone.encoder import StandaloneEncoder

__all__ = ["StandaloneEncoder"]
