"""One sentence through an encoder and a classifier."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.text_model import Metadata, Output
from allennlp_sentmatch.modules import Classifier


@Model.register("sentence_classifier")
class SentenceClassifier(ClassificationModel):
    """Classifies a sentence by its vector from an encoder.

    With the right encoder and pooling this is the sentiment model of the thesis (sections 3.5.2 and
    4.4.3), RCRN's classification model (Tay, Luu and Hui 2018, section 4.2: max, mean and min
    pooling and a hidden layer) and the LSTMN's (Ersü, section 4.1: the last state).

    # Parameters

    encoder : `Seq2VecEncoder`
        To use a `Seq2SeqEncoder`, wrap it in "pooled".
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    settings : see `ClassificationModel`
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
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        self._classifier = self._construct_classifier(classifier, encoder.get_output_dim())
        self._initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        score: Optional[Tensor] = None,
    ) -> Output:
        """Classify B sentences. Return the results of `output`, and what the encoder shows."""
        (vectors,), shown = self._encode({"": tokens})
        return self.output(self._classifier(vectors), label, metadata, shown)

    def encode(self, tokens: TextFieldTensors) -> Tensor:
        """Return the vectors (B, E) of B sentences."""
        return self._vectors(tokens)
