"""Two networks, one for each sentence of a pair, and a classifier of their joint vector."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.common.checks import check_dimensions_match
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.internals import add_attention, describe_attention
from allennlp_sentmatch.modules import Classifier, PairEncoder
from allennlp_sentmatch.modules.dropout import dropout_layer
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer


@Model.register("lstmn_classifier")
class LstmnClassifier(ClassificationModel):
    """Classifies the relation of two sentences by their joint vector from an encoder of pairs: two
    LSTMNs with or without inter-attention, or two LSTMs.

    Ersü, "Long Short-Term Memory-Networks for Machine Reading", sections 3 and 4.2, after
    [Cheng et al. (2016)](https://arxiv.org/abs/1601.06733). For single sentences, use
    "sentence_classifier" with the encoder "lstmn".

    Registered as a `Model` with name "lstmn_classifier".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Lazy[PairEncoder]`
        A configuration leaves out its `input_size`. By default of the type "lstmn_inter_attention".
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

    default_predictor = "sentence_pair"

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Lazy[PairEncoder],
        classifier: Lazy[Classifier] = Lazy(Classifier),  # noqa: B008
        embedding_dropout: float = 0.0,
        label_namespace: str = "labels",
        positive_label: Optional[str] = None,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        regularizer: Optional[ModelRegularizer] = None,
    ) -> None:
        super().__init__(vocab, label_namespace, positive_label, regularizer)
        self._text_field_embedder = text_field_embedder
        self._embedding_dropout = dropout_layer("embedding_dropout", embedding_dropout)
        self._encoder = encoder.construct(input_size=text_field_embedder.get_output_dim()).module
        check_dimensions_match(
            text_field_embedder.get_output_dim(),
            self._encoder.input_size,
            "text_field_embedder output dim",
            "encoder input dim",
        )
        self._classifier = classifier.construct(
            input_size=self._encoder.output_size, num_labels=vocab.get_vocab_size(label_namespace)
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
            See `ClassificationModel.output`; as far as the encoder has them, with
            `premise_self_attention` (B, P, P) and `hypothesis_self_attention` (B, H, H), a row for
            each token over the tokens before it, and `premise_attention` (B, P), the
            inter-attention.
        """
        premise_mask, hypothesis_mask = (
            get_text_field_mask(premise),
            get_text_field_mask(hypothesis),
        )
        # Shape: (B, E)
        vectors, attention = self._encoder(
            self._embedding_dropout(self._text_field_embedder(premise)),
            premise_mask,
            self._embedding_dropout(self._text_field_embedder(hypothesis)),
            hypothesis_mask,
            return_attention=True,
        )
        output = self.output(self._classifier(vectors), label, metadata)
        for name, weights, *masks in (
            ("premise_self_attention", attention.premise, premise_mask, premise_mask),
            ("hypothesis_self_attention", attention.hypothesis, hypothesis_mask, hypothesis_mask),
            ("premise_attention", attention.inter, premise_mask),
        ):
            if weights is not None:
                add_attention(output, name, weights, *masks)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Add `label` and `probs_by_label`, and remove the padding of the attention."""
        describe_attention(output_dict)
        return super().make_output_human_readable(output_dict)
