"""The semantic constraints as an AllenNLP component."""

from allennlp.common import FromParams

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn import cs_lvm


class SemanticConstraints(cs_lvm.SemanticConstraints, FromParams):
    """`allennlp_sentmatch.nn.cs_lvm.SemanticConstraints` as configurations state it.

    # Parameters

    names : `List[str]`
        Some of "y", "z" and "mu".
    temperature_rate : `float`, optional (default = `1e-4`)
    max_length : `int`, optional (default = `30`)
    straight_through : `bool`, optional (default = `False`)
    """

    def __init__(
        self,
        names: list[str],
        temperature_rate: float = 1e-4,
        max_length: int = 30,
        straight_through: bool = False,
    ) -> None:
        with configuration_errors():
            super().__init__(names, temperature_rate, max_length, straight_through)
