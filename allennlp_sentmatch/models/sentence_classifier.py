"""One sentence through an encoder and a classifier."""

from typing import Any

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.internals import encode_texts
from allennlp_sentmatch.modules import Classifier
from allennlp_sentmatch.modules.configuration_errors import inherits_settings
from allennlp_sentmatch.modules.parts import check_fit, dropout_layer


@Model.register("sentence_classifier")
class SentenceClassifier(ClassificationModel):
    """Classifies a sentence by its vector from an encoder.

    With the right encoder and pooling this is the sentiment model of the thesis (sections 3.5.2 and
    4.4.3), RCRN's classification model (Tay, Luu and Hui 2018, section 4.2: max, mean and min
    pooling and a hidden layer) and the LSTMN's (Ersü, section 4.1: the last state). The output has
    the internals of an `InterpretableEncoder`.

    Registered as a `Model` with name "sentence_classifier".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2VecEncoder`
        To use a `Seq2SeqEncoder`, wrap it in "pooled".
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    settings
        Those of `ClassificationModel`.
    """

    default_predictor = "single_sentence"

    @inherits_settings(ClassificationModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        classifier: Lazy[Classifier] = Lazy(Classifier),  # noqa: B008
        embedding_dropout: float = 0.0,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        check_fit(text_field_embedder=text_field_embedder, encoder=encoder)
        self._text_field_embedder = text_field_embedder
        self._embedding_dropout = dropout_layer("embedding_dropout", embedding_dropout)
        self._encoder = encoder
        self._classifier = self._construct_classifier(classifier, encoder.get_output_dim())
        initializer(self)

    def classify(self, tokens: TextFieldTensors) -> tuple[Tensor, dict[str, Any]]:
        """The logits (B, num_labels) of B sentences, and what the encoder shows."""
        (vectors,), shown = encode_texts(self._encoder, {"": self._embed(tokens)})
        return self._classifier(vectors), shown

    def encode(self, tokens: TextFieldTensors) -> Tensor:
        """The vectors (B, E) of B sentences."""
        vectors: Tensor = self._encoder(*self._embed(tokens))
        return vectors

    def _embed(self, tokens: TextFieldTensors) -> tuple[Tensor, Tensor]:
        # Shape: (B, T, D) and (B, T)
        embedded = self._embedding_dropout(self._text_field_embedder(tokens))
        return embedded, get_text_field_mask(tokens)
