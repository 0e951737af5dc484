"""Two sentences through one encoder, a matcher and a classifier."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.common.checks import check_dimensions_match
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.siamese_model import SiameseModel
from allennlp_sentmatch.modules import Classifier, Matcher
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer


@Model.register("siamese_classifier")
class SiameseClassifier(SiameseModel, ClassificationModel):
    """Classifies the relation of two sentences, each encoded separately by one shared encoder.

    Choi, Kim and Lee 2019 (https://arxiv.org/abs/1809.02279, section 3.3 and eqs 14-16) with a
    CAS-LSTM; the thesis's chapters 3 to 5 with other encoders and matchers. Both sentences of a
    pair are encoded in one call.

    Registered as a `Model` with name "siamese_classifier".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2VecEncoder`
        Reads each of the two sentences. To use a `Seq2SeqEncoder`, wrap it in "pooled".
    matcher : `Lazy[Matcher]`
        A configuration leaves out its `input_size`, which is the encoder's output size.
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
        A configuration leaves out its `input_size` and `num_labels`. By default, one hidden layer
        of 1024 with batch normalization.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings, the thesis's p_w.
    label_namespace : `str`, optional (default = `"labels"`)
    positive_label : `str`, optional (default = `None`)
        See `ClassificationModel`.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    regularizer : `ModelRegularizer`, optional (default = `None`)
    """

    default_predictor = "sentence_pair"

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        matcher: Lazy[Matcher],
        classifier: Lazy[Classifier] = Lazy(Classifier),  # noqa: B008
        embedding_dropout: float = 0.0,
        label_namespace: str = "labels",
        positive_label: Optional[str] = None,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        regularizer: Optional[ModelRegularizer] = None,
    ) -> None:
        super().__init__(vocab, label_namespace, positive_label, regularizer)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        self._matcher = matcher.construct(input_size=encoder.get_output_dim())
        check_dimensions_match(
            encoder.get_output_dim(),
            self._matcher.get_input_dim(),
            "encoder output dim",
            "matcher input dim",
        )
        self._classifier = classifier.construct(
            input_size=self._matcher.get_output_dim(),
            num_labels=vocab.get_vocab_size(label_namespace),
        ).module
        initializer(self)

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
        score: Optional[Tensor] = None,
    ) -> dict[str, Any]:
        """Classify a batch of B pairs.

        # Parameters

        premise : `TextFieldTensors`
        hypothesis : `TextFieldTensors`
        label : `Tensor`, optional (default = `None`)
            (B,)
        metadata : `List[Dict[str, Any]]`, optional (default = `None`)
        score : `Tensor`, optional (default = `None`)
            Not used: some data, such as SICK, have scores and labels.

        # Returns

        `Dict[str, Any]`
            See `ClassificationModel.output`; with the internals of an `InterpretableEncoder`, named
            `premise_...` and `hypothesis_...`.
        """
        # Shape: (B, E) twice
        premise_vectors, hypothesis_vectors, shown = self._encode_pairs(premise, hypothesis)
        output = self.output(self.match(premise_vectors, hypothesis_vectors), label, metadata)
        return {**output, **shown}

    def match(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> Tensor:
        """The logits (B, num_labels) of B pairs of encoded sentences, each (B, E)."""
        logits: Tensor = self._classifier(self._matcher(premise_vectors, hypothesis_vectors))
        return logits

    def compare(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> dict[str, Any]:
        """The labels' probabilities of B pairs of encoded sentences, each (B, E)."""
        return self.output(self.match(premise_vectors, hypothesis_vectors))
