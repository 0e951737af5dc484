"""The generator of sentences, as configurations state it."""

from allennlp.common import FromParams

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn.cs_lvm import ConditionalLanguageModel


class SentenceGenerator(FromParams):
    """Holds the `nn.cs_lvm.ConditionalLanguageModel` that a configuration states.

    A model takes a `Lazy[SentenceGenerator]`, fills in all but the last argument, and keeps the
    `module`.

    # Parameters

    vocab_size : `int`
    embedding_size : `int`
        Also the number of LSTM units, because the word embeddings are the output matrix.
    latent_size : `int`
    num_labels : `int`, optional (default = `0`)
    label_embedding_size : `int`, optional (default = `50`)
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        latent_size: int,
        num_labels: int = 0,
        label_embedding_size: int = 50,
    ) -> None:
        with configuration_errors():
            self.module = ConditionalLanguageModel(
                vocab_size, embedding_size, latent_size, num_labels, label_embedding_size
            )
