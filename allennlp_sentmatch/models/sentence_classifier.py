"""One sentence through an encoder and a classifier."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.common.checks import check_dimensions_match
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.internals import add_internals, describe_internals
from allennlp_sentmatch.modules import Classifier
from allennlp_sentmatch.modules.dropout import dropout_layer
from allennlp_sentmatch.modules.interpretable_encoder import encode_with_internals
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer


@Model.register("sentence_classifier")
class SentenceClassifier(ClassificationModel):
    """Classifies a sentence by its vector from an encoder.

    With the right encoder and pooling this is the sentiment model of the thesis (sections 3.5.2 and
    4.4.3), RCRN's classification model (Tay, Luu and Hui 2018, section 4.2: max, mean and min
    pooling and a hidden layer) and the LSTMN's (Ersü, section 4.1: the last state).

    Registered as a `Model` with name "sentence_classifier".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2VecEncoder`
        To use a `Seq2SeqEncoder`, wrap it in "pooled".
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
        A configuration leaves out its `input_size` and `num_labels`. By default, one hidden layer
        of 1024 with batch normalization.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    label_namespace : `str`, optional (default = `"labels"`)
    positive_label : `str`, optional (default = `None`)
        See `ClassificationModel`.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    regularizer : `ModelRegularizer`, optional (default = `None`)
    """

    default_predictor = "single_sentence"

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        classifier: Lazy[Classifier] = Lazy(Classifier),  # noqa: B008
        embedding_dropout: float = 0.0,
        label_namespace: str = "labels",
        positive_label: Optional[str] = None,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        regularizer: Optional[ModelRegularizer] = None,
    ) -> None:
        super().__init__(vocab, label_namespace, positive_label, regularizer)
        check_dimensions_match(
            text_field_embedder.get_output_dim(),
            encoder.get_input_dim(),
            "text_field_embedder output dim",
            "encoder input dim",
        )
        self._text_field_embedder = text_field_embedder
        self._embedding_dropout = dropout_layer("embedding_dropout", embedding_dropout)
        self._encoder = encoder
        self._classifier = classifier.construct(
            input_size=encoder.get_output_dim(), num_labels=vocab.get_vocab_size(label_namespace)
        ).module
        initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
    ) -> dict[str, Any]:
        """Classify a batch of B sentences.

        # Parameters

        tokens : `TextFieldTensors`
        label : `Tensor`, optional (default = `None`)
            (B,)
        metadata : `List[Dict[str, Any]]`, optional (default = `None`)

        # Returns

        `Dict[str, Any]`
            See `ClassificationModel.output`; with the internals of an `InterpretableEncoder`.
        """
        embedded, mask = self._embed(tokens)
        # Shape: (B, E)
        vectors, internals = encode_with_internals(self._encoder, embedded, mask)
        output = self.output(self._classifier(vectors), label, metadata)
        add_internals(output, "", internals, mask)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Add `label`, `probs_by_label`, and what the encoder shows: its tree, its attention."""
        describe_internals(output_dict, "", self._encoder)
        return super().make_output_human_readable(output_dict)

    def encode(self, tokens: TextFieldTensors) -> Tensor:
        """The vectors (B, E) of B sentences."""
        vectors: Tensor = self._encoder(*self._embed(tokens))
        return vectors

    def _embed(self, tokens: TextFieldTensors) -> tuple[Tensor, Tensor]:
        # Shape: (B, T, D) and (B, T)
        embedded = self._embedding_dropout(self._text_field_embedder(tokens))
        return embedded, get_text_field_mask(tokens)
