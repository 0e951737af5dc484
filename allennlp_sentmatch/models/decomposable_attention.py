"""Decomposable attention between the tokens of two sentences, with any encoder."""

from typing import Any, Optional

import torch
from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, MatrixAttention, Seq2SeqEncoder, TextFieldEmbedder
from allennlp.modules.matrix_attention import DotProductMatrixAttention
from allennlp.nn import Activation
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.text_model import Metadata, Output, attend_to_each_other
from allennlp_sentmatch.modules import Classifier

_RELU = Activation.by_name("relu")()
_DEFAULT_FEEDFORWARD = Lazy(FeedForward, num_layers=2, hidden_dims=200, activations=_RELU)
_DEFAULT_CLASSIFIER = Lazy(Classifier, hidden_size=200, batch_norm=False)


@Model.register("sentmatch_decomposable_attention")
class DecomposableAttention(ClassificationModel):
    """The attention of [Parikh et al. (2016)](https://arxiv.org/abs/1606.01933) over an encoder.

    With a_i and b_j the encoder's outputs for two sentences,

        e_ij = F(a_i) . F(b_j)                                          (attend)
        beta_i = sum_j softmax_j(e_ij) b_j,  alpha_j = sum_i softmax_i(e_ij) a_i
        v_1 = sum_i G([a_i; beta_i]),  v_2 = sum_j G([b_j; alpha_j])    (compare)

    and an MLP classifies [v_1; v_2] (aggregate). The paper's encoder is a projection; Tay, Luu and
    Hui 2018 (https://arxiv.org/abs/1811.09786, section 4.3) take "rcrn" and stacked BiLSTMs. The
    output has `premise_attention` and `hypothesis_attention`.

    With the same weights, allennlp-models' "decomposable_attention" has the same logits.

    # Parameters

    encoder : `Seq2SeqEncoder`
        Reads each of the two sentences.
    attend_feedforward : `Lazy[FeedForward]`, optional
        F, by default two layers of 200 with ReLU, as in the paper. A configuration leaves out its
        `input_dim`.
    compare_feedforward : `Lazy[FeedForward]`, optional
        G, likewise.
    classifier : `Lazy[Classifier]`, optional
        By default one hidden layer of 200.
    matrix_attention : `MatrixAttention`, optional (default = `DotProductMatrixAttention()`)
        Scores F(a_i) against F(b_j).
    settings : see `ClassificationModel`
    """

    @inherits_settings(ClassificationModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2SeqEncoder,
        attend_feedforward: Lazy[FeedForward] = _DEFAULT_FEEDFORWARD,
        compare_feedforward: Lazy[FeedForward] = _DEFAULT_FEEDFORWARD,
        classifier: Lazy[Classifier] = _DEFAULT_CLASSIFIER,
        matrix_attention: Optional[MatrixAttention] = None,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder)
        size = encoder.get_output_dim()
        self._attend_feedforward = attend_feedforward.construct(input_dim=size)
        self._matrix_attention = matrix_attention or DotProductMatrixAttention()
        self._compare_feedforward = compare_feedforward.construct(input_dim=2 * size)
        self._classifier = self._construct_classifier(
            classifier, 2 * self._compare_feedforward.get_output_dim()
        )
        self._initializer(self)

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        score: Optional[Tensor] = None,
    ) -> Output:
        """Classify B pairs. Return the results of `output`, `premise_attention` and
        `hypothesis_attention`, see `attend_to_each_other`.
        """
        embedded, mask = self._embed(premise, hypothesis)
        encoded = self._encoder(embedded, mask)  # (2B, T, E)
        aligned, shown = attend_to_each_other(  # (2B, T, E), beta and alpha
            encoded, self._attend_feedforward(encoded), mask, self._matrix_attention
        )
        compared = self._compare_feedforward(torch.cat([encoded, aligned], dim=-1))  # (2B, T, G)
        sums = (compared * mask.unsqueeze(-1)).sum(dim=1).chunk(2)  # (B, G) twice
        logits = self._classifier(torch.cat(sums, dim=-1))
        return self.output(logits, label, metadata, shown)
