"""Decomposable attention between the tokens of two sentences, over any encoder."""

from typing import Any, Optional

import torch
from allennlp.common import Lazy
from allennlp.common.checks import check_dimensions_match
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, MatrixAttention, Seq2SeqEncoder, TextFieldEmbedder
from allennlp.modules.matrix_attention import DotProductMatrixAttention
from allennlp.nn import Activation, InitializerApplicator
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.internals import add_attention, describe_attention
from allennlp_sentmatch.modules import Classifier
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from allennlp_sentmatch.nn.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.padding import stack_padded

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
    Hui 2018 (https://arxiv.org/abs/1811.09786, section 4.3) take "rcrn" and stacked BiLSTMs.

    With the same weights, the logits are those of allennlp-models' "decomposable_attention".

    Registered as a `Model` with name "sentmatch_decomposable_attention".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2SeqEncoder`
        Reads each of the two sentences.
    attend_feedforward : `Lazy[FeedForward]`, optional
        F. A configuration leaves out its `input_dim`. By default two layers of 200 with ReLU, as in
        the paper.
    compare_feedforward : `Lazy[FeedForward]`, optional
        G, likewise.
    classifier : `Lazy[Classifier]`, optional
        A configuration leaves out its `input_size` and `num_labels`. By default one hidden layer of
        200.
    matrix_attention : `MatrixAttention`, optional (default = `DotProductMatrixAttention()`)
        Scores F(a_i) against F(b_j).
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
        encoder: Seq2SeqEncoder,
        attend_feedforward: Lazy[FeedForward] = _DEFAULT_FEEDFORWARD,
        compare_feedforward: Lazy[FeedForward] = _DEFAULT_FEEDFORWARD,
        classifier: Lazy[Classifier] = _DEFAULT_CLASSIFIER,
        matrix_attention: Optional[MatrixAttention] = None,
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
        size = encoder.get_output_dim()
        self._text_field_embedder = text_field_embedder
        self._encoder = encoder
        self._attend_feedforward = attend_feedforward.construct(input_dim=size)
        check_dimensions_match(
            size,
            self._attend_feedforward.get_input_dim(),
            "encoder output dim",
            "attend_feedforward input dim",
        )
        self._matrix_attention = matrix_attention or DotProductMatrixAttention()
        self._compare_feedforward = compare_feedforward.construct(input_dim=2 * size)
        check_dimensions_match(
            2 * size,
            self._compare_feedforward.get_input_dim(),
            "twice the encoder output dim",
            "compare_feedforward input dim",
        )
        self._classifier = classifier.construct(
            input_size=2 * self._compare_feedforward.get_output_dim(),
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
            See `ClassificationModel.output`; with `premise_attention` (B, P, H), a row of weights
            over the hypothesis for each token of the premise, and `hypothesis_attention` (B, H, P).
        """
        premise_mask = get_text_field_mask(premise)  # (B, P)
        hypothesis_mask = get_text_field_mask(hypothesis)  # (B, H)
        # Shape: (2B, T, D) and (2B, T), T being the longer one of P and H
        embedded, mask = stack_padded(
            (self._text_field_embedder(premise), premise_mask),
            (self._text_field_embedder(hypothesis), hypothesis_mask),
        )
        encoded = self._encoder(embedded, mask)  # (2B, T, E)
        sizes = premise_mask.size(1), hypothesis_mask.size(1)
        # Shape: (B, P, E) and (B, H, E); (B, P, F) and (B, H, F)
        a, b = (part[:, :size] for part, size in zip(encoded.chunk(2), sizes))
        projected = self._attend_feedforward(encoded).chunk(2)
        projected_a, projected_b = (part[:, :size] for part, size in zip(projected, sizes))

        similarity = self._matrix_attention(projected_a, projected_b)  # (B, P, H)
        premise_attention = masked_softmax(similarity, hypothesis_mask.unsqueeze(1))
        # Shape: (B, H, P)
        hypothesis_attention = masked_softmax(similarity.transpose(1, 2), premise_mask.unsqueeze(1))
        # Shape: (2B, T, E), beta and alpha
        aligned, _ = stack_padded(
            (premise_attention.bmm(b), premise_mask), (hypothesis_attention.bmm(a), hypothesis_mask)
        )
        compared = self._compare_feedforward(torch.cat([encoded, aligned], dim=-1))  # (2B, T, G)
        # Shape: (B, G) twice
        sums = (compared * mask.unsqueeze(-1)).sum(dim=1).chunk(2)
        output = self.output(self._classifier(torch.cat(sums, dim=-1)), label, metadata)
        masks = (premise_mask, hypothesis_mask)
        add_attention(output, "premise_attention", premise_attention, *masks)
        add_attention(output, "hypothesis_attention", hypothesis_attention, *reversed(masks))
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Add `label` and `probs_by_label`, and remove the padding of the attention."""
        describe_attention(output_dict)
        return super().make_output_human_readable(output_dict)
