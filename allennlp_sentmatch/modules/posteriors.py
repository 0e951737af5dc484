"""Approximate posteriors of latent variable models, as configurations state them."""

from allennlp.common import Registrable

from allennlp_sentmatch import nn
from allennlp_sentmatch.modules.configuration_errors import constructs


class Posterior(Registrable):
    """Holds the `InferenceNetwork` that a configuration states.

    A model takes a `Lazy[Posterior]`, fills in `input_size`, and keeps the `module`.
    """

    def __init__(self, module: nn.InferenceNetwork) -> None:
        self.module = module


@Posterior.register("gaussian")
class GaussianPosterior(Posterior):
    """A Gaussian with diagonal covariance, against N(0, I), with KL cost annealing.

    Thesis table 6.3, ablation (ii). Takes the settings of
    `allennlp_sentmatch.nn.GaussianInferenceNetwork`.
    """

    __init__ = constructs(nn.GaussianInferenceNetwork)(Posterior.__init__)


@Posterior.register("von_mises_fisher")
class VonMisesFisherPosterior(Posterior):
    """vMF(mu, kappa) with a fixed kappa, against the uniform distribution on the sphere.

    Thesis section 6.3.2 and eq. 6.3. Takes the settings of
    `allennlp_sentmatch.nn.VonMisesFisherInferenceNetwork`.
    """

    __init__ = constructs(nn.VonMisesFisherInferenceNetwork)(Posterior.__init__)
