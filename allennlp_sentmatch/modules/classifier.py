"""The classifier of a sentence model, as configurations state it."""

from allennlp.common import FromParams

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn.mlp_classifier import MLPClassifier


class Classifier(FromParams):
    """Holds the `allennlp_sentmatch.nn.MLPClassifier` that a configuration states.

    A model takes a `Lazy[Classifier]`, fills in `input_size` and `num_labels`, and keeps the
    `module`; `{"num_layers": 2, "dropout": 0.15}` is all that a configuration has to say.

    # Parameters

    input_size : `int`
        Size of the features.
    num_labels : `int`
        Number of labels.
    hidden_size : `int`, optional (default = `1024`)
        Size of every hidden layer.
    num_layers : `int`, optional (default = `1`)
        Number of hidden layers; with 0 the classifier is linear.
    dropout : `float`, optional (default = `0.0`)
        Drop probability on the input and after each hidden layer, the thesis's p_c.
    batch_norm : `bool`, optional (default = `True`)
        Normalize the input and the output of each hidden layer over the batch.
    activation : `str`, optional (default = `"relu"`)
        Of the hidden layers: `"relu"`, `"tanh"` (ESIM's) or `"linear"` (none, InferSent's).
    between_layers : `bool`, optional (default = `True`)
        Apply batch normalization and dropout after each hidden layer, not only after the last.
    """

    def __init__(
        self,
        input_size: int,
        num_labels: int,
        hidden_size: int = 1024,
        num_layers: int = 1,
        dropout: float = 0.0,
        batch_norm: bool = True,
        activation: str = "relu",
        between_layers: bool = True,
    ) -> None:
        with configuration_errors():
            self.module = MLPClassifier(
                input_size,
                num_labels,
                hidden_size,
                num_layers,
                dropout,
                batch_norm,
                activation,
                between_layers,
            )
