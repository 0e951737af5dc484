"""A pretrained transformer that reads both sentences together, and a classifier."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.cross_encoder_model import CrossEncoderModel
from allennlp_sentmatch.modules import Classifier
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer

LINEAR_CLASSIFIER = Lazy(Classifier, num_layers=0, dropout=0.1, batch_norm=False)


@Model.register("cross_encoder")
class CrossEncoder(CrossEncoderModel, ClassificationModel):
    """Classifies the relation of two sentences that a transformer reads as one text: the
    fine-tuning of BERT for pairs ([Devlin et al. 2019](https://arxiv.org/abs/1810.04805)).

    Each word can attend to the words of the other sentence. This is more accurate than a
    "siamese_classifier", but slower for all pairs of many sentences, because there are no vectors
    of single sentences. `allennlp search --rescore` combines the two.

    The reader is "sentence_pair" with `combine_input_fields: true`.

    Registered as a `Model` with name "cross_encoder".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
        With the token embedder "pretrained_transformer".
    encoder : `Seq2VecEncoder`, optional (default = `ClsPooler`)
        From the vectors of all tokens to that of the pair; by default, the first token's.
    classifier : `Lazy[Classifier]`, optional
        A configuration leaves out its `input_size` and `num_labels`. By default linear, with
        dropout 0.1.
    label_namespace : `str`, optional (default = `"labels"`)
    positive_label : `str`, optional (default = `None`)
        See `ClassificationModel`.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    regularizer : `ModelRegularizer`, optional (default = `None`)
    """

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Optional[Seq2VecEncoder] = None,
        classifier: Lazy[Classifier] = LINEAR_CLASSIFIER,
        label_namespace: str = "labels",
        positive_label: Optional[str] = None,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        regularizer: Optional[ModelRegularizer] = None,
    ) -> None:
        super().__init__(vocab, label_namespace, positive_label, regularizer)
        self._classifier = classifier.construct(
            input_size=self._set_encoder(text_field_embedder, encoder),
            num_labels=vocab.get_vocab_size(label_namespace),
        ).module
        initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
        score: Optional[Tensor] = None,
    ) -> dict[str, Any]:
        """Classify a batch of B pairs.

        # Parameters

        tokens : `TextFieldTensors`
            Both sentences of each pair.
        label : `Tensor`, optional (default = `None`)
            (B,)
        metadata : `List[Dict[str, Any]]`, optional (default = `None`)
        score : `Tensor`, optional (default = `None`)
            Not used: some data, such as SICK, have scores and labels.

        # Returns

        `Dict[str, Any]`
            See `ClassificationModel.output`; with the internals of an `InterpretableEncoder`.
        """
        vectors, shown = self._encode_pair(tokens)
        return {**self.output(self._classifier(vectors), label, metadata), **shown}
