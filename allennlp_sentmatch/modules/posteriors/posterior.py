"""The base class of approximate posteriors."""

from allennlp.common import Registrable

from allennlp_sentmatch.nn.cs_lvm import InferenceNetwork


class Posterior(Registrable):
    """Holds the `InferenceNetwork` that a configuration states.

    A model takes a `Lazy[Posterior]`, fills in `input_size`, and keeps the `module`.

    # Parameters

    module : `InferenceNetwork`
    """

    def __init__(self, module: InferenceNetwork) -> None:
        self.module = module
