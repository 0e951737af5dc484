"""Approximate posteriors of latent variable models."""

from allennlp_sentmatch.modules.posteriors.gaussian_posterior import GaussianPosterior
from allennlp_sentmatch.modules.posteriors.posterior import Posterior
from allennlp_sentmatch.modules.posteriors.von_mises_fisher_posterior import (
    VonMisesFisherPosterior,
)

__all__ = ["GaussianPosterior", "Posterior", "VonMisesFisherPosterior"]
