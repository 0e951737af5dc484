"""The von Mises-Fisher posterior as configurations state it."""

from typing import Optional

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.posteriors.posterior import Posterior
from allennlp_sentmatch.nn.cs_lvm import VonMisesFisherInferenceNetwork


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
