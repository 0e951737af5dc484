"""The generator of sentences, as configurations state it."""

from allennlp.common import FromParams

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.nn.cs_lvm import ConditionalLanguageModel


class SentenceGenerator(FromParams):
    """Holds the `ConditionalLanguageModel` that a configuration states.

    A model takes a `Lazy[SentenceGenerator]`, fills in all but the last argument, and keeps the
    `module`. The parameters are those of `allennlp_sentmatch.nn.cs_lvm.ConditionalLanguageModel`.
    """

    @constructs(ConditionalLanguageModel)
    def __init__(self, module: ConditionalLanguageModel) -> None:
        self.module = module
