"""The Gaussian posterior as configurations state it."""

from typing import Optional

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.posteriors.posterior import Posterior
from allennlp_sentmatch.nn.cs_lvm import GaussianInferenceNetwork


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
