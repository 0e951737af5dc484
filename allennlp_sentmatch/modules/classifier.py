"""The classifier of a sentence model, as configurations state it."""

from allennlp.common import FromParams

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.nn.mlp_classifier import MLPClassifier


class Classifier(FromParams):
    """Holds the `MLPClassifier` that a configuration states.

    A model takes a `Lazy[Classifier]`, fills in `input_size` and `num_labels`, and keeps the
    `module`; `{"num_layers": 2, "dropout": 0.15}` is all that a configuration has to say. The
    parameters are those of `allennlp_sentmatch.nn.mlp_classifier.MLPClassifier`.
    """

    @constructs(MLPClassifier)
    def __init__(self, module: MLPClassifier) -> None:
        self.module = module
