"""Two networks, one for each sentence of a pair, and a classifier of their joint vector."""

from typing import Any

from allennlp.common import Lazy
from allennlp.common.checks import check_dimensions_match
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.internals import add_attention
from allennlp_sentmatch.modules import Classifier, PairEncoder
from allennlp_sentmatch.modules.configuration_errors import inherits_settings
from allennlp_sentmatch.modules.parts import dropout_layer


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
        By default of the type "lstmn_inter_attention".
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    settings
        Those of `ClassificationModel`.
    """

    default_predictor = "sentence_pair"

    @inherits_settings(ClassificationModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Lazy[PairEncoder],
        classifier: Lazy[Classifier] = Lazy(Classifier),  # noqa: B008
        embedding_dropout: float = 0.0,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._text_field_embedder = text_field_embedder
        self._embedding_dropout = dropout_layer("embedding_dropout", embedding_dropout)
        self._encoder = encoder.construct(input_size=text_field_embedder.get_output_dim()).module
        check_dimensions_match(
            text_field_embedder.get_output_dim(),
            self._encoder.input_size,
            "text_field_embedder output dim",
            "encoder input dim",
        )
        self._classifier = self._construct_classifier(classifier, self._encoder.output_size)
        initializer(self)

    def classify(
        self, premise: TextFieldTensors, hypothesis: TextFieldTensors
    ) -> tuple[Tensor, dict[str, Any]]:
        """The logits (B, num_labels) of B pairs; as far as the encoder has them,
        `premise_self_attention` (B, P, P) and `hypothesis_self_attention` (B, H, H), a row for each
        token over the tokens before it, and `premise_attention` (B, P), the inter-attention.
        """
        premise_mask, hypothesis_mask = map(get_text_field_mask, (premise, hypothesis))
        # Shape: (B, E)
        vectors, attention = self._encoder(
            self._embedding_dropout(self._text_field_embedder(premise)),
            premise_mask,
            self._embedding_dropout(self._text_field_embedder(hypothesis)),
            hypothesis_mask,
            return_attention=True,
        )
        shown: dict[str, Any] = {}
        for name, weights, *masks in (
            ("premise_self_attention", attention.premise, premise_mask, premise_mask),
            ("hypothesis_self_attention", attention.hypothesis, hypothesis_mask, hypothesis_mask),
            ("premise_attention", attention.inter, premise_mask),
        ):
            if weights is not None:
                add_attention(shown, name, weights, *masks)
        return self._classifier(vectors), shown
