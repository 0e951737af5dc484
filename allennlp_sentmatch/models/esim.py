"""The enhanced sequential inference model, with any encoders and comparisons."""

from typing import Any, Optional

import torch
from allennlp.common import Lazy
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
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.text_model import Metadata, Output, attend_to_each_other
from allennlp_sentmatch.modules import Classifier, Matcher
from allennlp_sentmatch.modules.matchers import HeuristicDifferenceMatcher
from allennlp_sentmatch.modules.parts import check_fit, relu_layer
from allennlp_sentmatch.nn import Pooling, check_fraction

_DEFAULT_CLASSIFIER = Lazy(
    Classifier, hidden_size=300, activation="tanh", dropout=0.5, batch_norm=False
)


@Model.register("sentmatch_esim")
class ESIM(ClassificationModel):
    """The ESIM of [Chen et al. (2017)](https://arxiv.org/abs/1609.06038).

    Both sentences are encoded; each token attends to the tokens of the other sentence; a matcher
    compares every token with the vector it attended to; a second encoder reads the comparisons, and
    an MLP classifies their means and maxima. Brahma 2018 (https://arxiv.org/abs/1805.07340)
    replaces the first encoder by "subilstm". The paper's comparison is "heuristic_difference"; the
    thesis (section 5.4) suggests "elbis". The output has `premise_attention` and
    `hypothesis_attention`.

    With BiLSTMs, the default matcher and equal weights, allennlp-models' "esim" has equal logits.

    # Parameters

    encoder : `Seq2SeqEncoder`
        Reads each of the two sentences.
    inference_encoder : `Seq2SeqEncoder`
        Reads the comparisons, after `projection_feedforward`.
    matcher : `Lazy[Matcher]`, optional (default = `Lazy(HeuristicDifferenceMatcher)`)
        Compares two vectors a token.
    projection_feedforward : `Lazy[FeedForward]`, optional (default = `None`)
        Applied to each comparison. A configuration leaves out its `input_dim`. By default, one
        layer with ReLU, with the input size of `inference_encoder`.
    classifier : `Lazy[Classifier]`, optional
        By default as in the paper: one hidden layer of 300 with tanh, and dropout 0.5.
    matrix_attention : `MatrixAttention`, optional (default = `DotProductMatrixAttention()`)
        Scores a token of one sentence against one of the other.
    dropout : `float`, optional (default = `0.5`)
        Drop probability on the input of both encoders, the same for all tokens of a sentence.
    settings : see `ClassificationModel`
    """

    @inherits_settings(ClassificationModel)
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
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder)
        check_fraction(dropout=dropout)
        self._rnn_input_dropout = InputVariationalDropout(dropout)
        self._matrix_attention = matrix_attention or DotProductMatrixAttention()
        self._matcher = matcher.construct(input_size=encoder.get_output_dim())
        projection = projection_feedforward or relu_layer(inference_encoder.get_input_dim())
        self._projection_feedforward = projection.construct(
            input_dim=self._matcher.get_output_dim()
        )
        check_fit(
            projection_feedforward=self._projection_feedforward,
            inference_encoder=inference_encoder,
        )
        self._inference_encoder = inference_encoder
        self._pooling = Pooling(inference_encoder.get_output_dim(), ["mean", "max"])
        # The mean and the maximum of either sentence.
        self._classifier = self._construct_classifier(classifier, 2 * self._pooling.output_size)
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
        encoded = self._encoder(self._rnn_input_dropout(embedded), mask)  # (2B, T, E)
        attended, shown = attend_to_each_other(encoded, encoded, mask, self._matrix_attention)
        # I and O are the sizes of the inference encoder's input and output.
        compared = self._projection_feedforward(self._matcher(encoded, attended))  # (2B, T, I)
        compared = self._rnn_input_dropout(compared)
        composed = self._inference_encoder(compared, mask)  # (2B, T, O)
        pooled = self._pooling(composed, mask).chunk(2)  # (B, 2 * O) each
        logits = self._classifier(torch.cat(pooled, dim=-1))
        return self.output(logits, label, metadata, shown)
