"""Distributions on the unit hypersphere, as `torch.distributions` classes."""

from allennlp_sentmatch.nn.distributions.hyperspherical_uniform import HypersphericalUniform
from allennlp_sentmatch.nn.distributions.von_mises_fisher import VonMisesFisher

__all__ = ["HypersphericalUniform", "VonMisesFisher"]
