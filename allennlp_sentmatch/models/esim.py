"""The enhanced sequential inference model, with any encoders and comparisons."""

from typing import Any, Optional

import torch
from allennlp.common import Lazy
from allennlp.common.checks import check_dimensions_match
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import (
    FeedForward,
    InputVariationalDropout,
    MatrixAttention,
    Seq2SeqEncoder,
    TextFieldEmbedder,
)
from allennlp.modules.matrix_attention import DotProductMatrixAttention
from allennlp.nn import Activation, InitializerApplicator
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.internals import add_attention, describe_attention
from allennlp_sentmatch.modules import Classifier, Matcher
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.matchers import HeuristicDifferenceMatcher
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from allennlp_sentmatch.nn.checks import check_fraction
from allennlp_sentmatch.nn.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.padding import stack_padded
from allennlp_sentmatch.nn.pooling import Pooling

_DEFAULT_CLASSIFIER = Lazy(
    Classifier, hidden_size=300, activation="tanh", dropout=0.5, batch_norm=False
)


@Model.register("sentmatch_esim")
class ESIM(ClassificationModel):
    """The ESIM of [Chen et al. (2017)](https://arxiv.org/abs/1609.06038).

    Both sentences are encoded; each token attends to the tokens of the other sentence; a matcher
    compares every token with what it attended to; a second encoder reads the comparisons, and an
    MLP classifies their means and maxima. Brahma 2019 (https://arxiv.org/abs/1805.07340) replaces
    the first encoder by "subilstm". The paper's comparison is "heuristic_difference"; the thesis
    (section 5.4) suggests "elbis".

    With BiLSTMs, "heuristic_difference" and the same weights, the logits are those of
    allennlp-models' "esim".

    Registered as a `Model` with name "sentmatch_esim".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2SeqEncoder`
        Reads each of the two sentences.
    inference_encoder : `Seq2SeqEncoder`
        Reads the comparisons, after `projection_feedforward`.
    matcher : `Lazy[Matcher]`, optional (default = `Lazy(HeuristicDifferenceMatcher)`)
        Compares two vectors a token. A configuration leaves out its `input_size`.
    projection_feedforward : `Lazy[FeedForward]`, optional (default = `None`)
        Applied to each comparison. A configuration leaves out its `input_dim`. By default one layer
        with ReLU, of the size that `inference_encoder` takes.
    classifier : `Lazy[Classifier]`, optional
        A configuration leaves out its `input_size` and `num_labels`. By default as in the paper:
        one hidden layer of 300 with tanh, and dropout 0.5.
    matrix_attention : `MatrixAttention`, optional (default = `DotProductMatrixAttention()`)
        Scores a token of one sentence against one of the other.
    dropout : `float`, optional (default = `0.5`)
        Drop probability on the input of both encoders, the same for all tokens of a sentence.
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
        inference_encoder: Seq2SeqEncoder,
        matcher: Lazy[Matcher] = Lazy(HeuristicDifferenceMatcher),  # noqa: B008
        projection_feedforward: Optional[Lazy[FeedForward]] = None,
        classifier: Lazy[Classifier] = _DEFAULT_CLASSIFIER,
        matrix_attention: Optional[MatrixAttention] = None,
        dropout: float = 0.5,
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
        with configuration_errors():
            check_fraction(dropout=dropout)
        self._rnn_input_dropout = InputVariationalDropout(dropout)
        self._encoder = encoder
        self._matrix_attention = matrix_attention or DotProductMatrixAttention()
        self._matcher = matcher.construct(input_size=encoder.get_output_dim())
        check_dimensions_match(
            encoder.get_output_dim(),
            self._matcher.get_input_dim(),
            "encoder output dim",
            "matcher input dim",
        )
        if projection_feedforward is None:
            projection_feedforward = Lazy(
                FeedForward,
                num_layers=1,
                hidden_dims=inference_encoder.get_input_dim(),
                activations=Activation.by_name("relu")(),
            )
        self._projection_feedforward = projection_feedforward.construct(
            input_dim=self._matcher.get_output_dim()
        )
        check_dimensions_match(
            self._matcher.get_output_dim(),
            self._projection_feedforward.get_input_dim(),
            "matcher output dim",
            "projection_feedforward input dim",
        )
        check_dimensions_match(
            self._projection_feedforward.get_output_dim(),
            inference_encoder.get_input_dim(),
            "projection_feedforward output dim",
            "inference_encoder input dim",
        )
        self._inference_encoder = inference_encoder
        self._pooling = Pooling(inference_encoder.get_output_dim(), ["mean", "max"])
        # The mean and the maximum of either sentence.
        self._classifier = classifier.construct(
            input_size=2 * self._pooling.output_size,
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
        premise_mask, hypothesis_mask = (
            get_text_field_mask(premise),
            get_text_field_mask(hypothesis),
        )
        # Shape: (2B, T, D) and (2B, T), T being the longer one of P and H
        embedded, mask = stack_padded(
            (self._text_field_embedder(premise), premise_mask),
            (self._text_field_embedder(hypothesis), hypothesis_mask),
        )
        # Shape: (2B, T, E)
        encoded = self._encoder(self._rnn_input_dropout(embedded), mask)
        # Shape: (B, P, E) and (B, H, E)
        encoded_premise, encoded_hypothesis = encoded.chunk(2)
        encoded_premise = encoded_premise[:, : premise_mask.size(1)]
        encoded_hypothesis = encoded_hypothesis[:, : hypothesis_mask.size(1)]

        # Shape: (B, P, H)
        similarity = self._matrix_attention(encoded_premise, encoded_hypothesis)
        premise_attention = masked_softmax(similarity, hypothesis_mask.unsqueeze(1))
        # Shape: (B, H, P)
        hypothesis_attention = masked_softmax(similarity.transpose(1, 2), premise_mask.unsqueeze(1))
        # Shape: (2B, T, E)
        attended, _ = stack_padded(
            (premise_attention.bmm(encoded_hypothesis), premise_mask),
            (hypothesis_attention.bmm(encoded_premise), hypothesis_mask),
        )

        # Shape: (2B, T, the inference encoder's input size)
        compared = self._projection_feedforward(self._matcher(encoded, attended))
        composed = self._inference_encoder(self._rnn_input_dropout(compared), mask)
        # Shape: (B, 2 * the inference encoder's output size) twice
        pooled_premise, pooled_hypothesis = self._pooling(composed, mask).chunk(2)
        logits = self._classifier(torch.cat([pooled_premise, pooled_hypothesis], dim=-1))

        output = self.output(logits, label, metadata)
        masks = (premise_mask, hypothesis_mask)
        add_attention(output, "premise_attention", premise_attention, *masks)
        add_attention(output, "hypothesis_attention", hypothesis_attention, *reversed(masks))
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Add `label` and `probs_by_label`, and remove the padding of the attention."""
        describe_attention(output_dict)
        return super().make_output_human_readable(output_dict)
