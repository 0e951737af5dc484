"""Approximate posteriors of latent variable models, as configurations state them."""

from typing import Optional

from allennlp.common import Registrable

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn.cs_lvm import (
    GaussianInferenceNetwork,
    InferenceNetwork,
    VonMisesFisherInferenceNetwork,
)


class Posterior(Registrable):
    """Holds the `InferenceNetwork` that a configuration states.

    A model takes a `Lazy[Posterior]`, fills in `input_size`, and keeps the `module`.

    # Parameters

    module : `InferenceNetwork`
    """

    def __init__(self, module: InferenceNetwork) -> None:
        self.module = module


@Posterior.register("gaussian")
class GaussianPosterior(Posterior):
    """A Gaussian with diagonal covariance, against N(0, I), with KL cost annealing.

    Thesis table 6.3, ablation (ii).

    Registered as a `Posterior` with name "gaussian".

    # Parameters

    input_size : `int`
        The size of an encoded sentence. Models fill it in.
    latent_size : `int`, optional (default = `input_size`)
    kl_annealing_rate : `float`, optional (default = `1e-4`)
        The increase of the KL term's weight in a training step, from 0 up to 1.
    """

    def __init__(
        self, input_size: int, latent_size: Optional[int] = None, kl_annealing_rate: float = 1e-4
    ) -> None:
        with configuration_errors():
            module = GaussianInferenceNetwork(
                input_size, input_size if latent_size is None else latent_size, kl_annealing_rate
            )
        super().__init__(module)


@Posterior.register("von_mises_fisher")
class VonMisesFisherPosterior(Posterior):
    """vMF(mu, kappa) with a fixed kappa, against the uniform distribution on the sphere.

    Thesis section 6.3.2 and eq. 6.3.

    Registered as a `Posterior` with name "von_mises_fisher".

    # Parameters

    input_size : `int`
        The size of an encoded sentence. Models fill it in.
    latent_size : `int`, optional (default = `input_size`)
    concentration : `float`, optional (default = `100.0`)
        kappa.
    """

    def __init__(
        self, input_size: int, latent_size: Optional[int] = None, concentration: float = 100.0
    ) -> None:
        with configuration_errors():
            module = VonMisesFisherInferenceNetwork(
                input_size, input_size if latent_size is None else latent_size, concentration
            )
        super().__init__(module)
