"""The base class of encoders of pairs."""

from allennlp.common import Registrable

from allennlp_sentmatch.nn import PairReader


class PairEncoder(Registrable):
    """Holds the `PairReader` that a configuration states.

    A model takes a `Lazy[PairEncoder]`, fills in `input_size`, and keeps the `module`.

    # Parameters

    module : `PairReader`
    """

    default_implementation = "lstmn_inter_attention"

    def __init__(self, module: PairReader) -> None:
        self.module = module
