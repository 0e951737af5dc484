"""Two networks, one for each sentence of a pair, and a classifier of the joint vector."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import TextFieldEmbedder
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.text_model import Metadata, Output, add_attention
from allennlp_sentmatch.modules import Classifier, PairEncoder


@Model.register("lstmn_classifier")
class LstmnClassifier(ClassificationModel):
    """Classifies the relation of two sentences by their joint vector from an encoder of pairs: two
    LSTMNs with or without inter-attention, or two LSTMs.

    Ersü, "Long Short-Term Memory-Networks for Machine Reading", sections 3 and 4.2, after
    [Cheng et al. (2016)](https://arxiv.org/abs/1601.06733). For single sentences, use
    "sentence_classifier" with the encoder "lstmn".

    # Parameters

    encoder : `Lazy[PairEncoder]`
        By default of the type "lstmn_inter_attention".
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    settings : see `ClassificationModel`
    """

    @inherits_settings(ClassificationModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Lazy[PairEncoder],
        classifier: Lazy[Classifier] = Lazy(Classifier),  # noqa: B008
        embedding_dropout: float = 0.0,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_embedder(text_field_embedder, embedding_dropout)
        self._encoder = encoder.construct(input_size=text_field_embedder.get_output_dim()).module
        self._classifier = self._construct_classifier(classifier, self._encoder.output_size)
        self._initializer(self)

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        score: Optional[Tensor] = None,
    ) -> Output:
        """Classify B pairs.

        Return the results of `output` and, as far as the encoder has them, the attention:
        `premise_self_attention` (B, P, P) and `hypothesis_self_attention` (B, H, H), a row for each
        token over the tokens before it, and `premise_attention` (B, P), the inter-attention.
        """
        embedded_premise, premise_mask = self._embed(premise)  # (B, P, D) and (B, P)
        embedded_hypothesis, hypothesis_mask = self._embed(hypothesis)  # (B, H, D) and (B, H)
        vectors, attention = self._encoder(  # (B, E)
            embedded_premise,
            premise_mask,
            embedded_hypothesis,
            hypothesis_mask,
            return_attention=True,
        )
        shown: Output = {}
        own = attention.premise
        add_attention(shown, "premise_self_attention", own, premise_mask, premise_mask)
        own = attention.hypothesis
        add_attention(shown, "hypothesis_self_attention", own, hypothesis_mask, hypothesis_mask)
        add_attention(shown, "premise_attention", attention.inter, premise_mask)
        return self.output(self._classifier(vectors), label, metadata, shown)
