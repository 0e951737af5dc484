"""The biattentive classification network, with any encoders."""

from typing import Any, Optional, Union

import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError, check_dimensions_match
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, Maxout, Seq2SeqEncoder, TextFieldEmbedder
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.text_model import Metadata, Output, add_attention
from allennlp_sentmatch.modules.parts import check_fit, dropout_layer, relu_layer
from allennlp_sentmatch.nn import Pooling, check_fraction, masked_softmax


@Model.register("sentmatch_bcn")
class BiattentiveClassificationNetwork(ClassificationModel):
    """The BCN of [McCann et al. (2017)](https://arxiv.org/abs/1708.00107), section 5, for texts.

    With F a feed-forward network, x_t the embedded tokens, W and v learned:

        h = encoder(F(x))
        a = softmax(h h^T),  c = a h
        y = integrator([h; h - c; h * c])
        features = [max_t y_t; min_t y_t; mean_t y_t; sum_t b_t y_t],  b = softmax(v . y + d)

    and a maxout network classifies the features. Brahma 2018 (https://arxiv.org/abs/1805.07340)
    replaces the encoder by "subilstm".

    With BiLSTMs and the same weights, allennlp-models' "bcn" has the same logits. Unlike the
    original, it has no batch normalization.

    # Parameters

    encoder : `Seq2SeqEncoder`
    integrator : `Seq2SeqEncoder`
        Its input size is 3 times the encoder's output size.
    pre_encode_feedforward : `Lazy[FeedForward]`, optional (default = `None`)
        F. A configuration leaves out its `input_dim`. By default, one layer with ReLU, with the
        encoder's input size.
    output_layer : `Union[Maxout, FeedForward]`, optional (default = `None`)
        From the features, 4 times the integrator's output size, to a logit for each label. By
        default, it is built from `reduction_factors` and `maxout_dropout`.
    reduction_factors : `list[int]`, optional (default = `[4, 2]`)
        A maxout layer for each factor r, which divides the number of features by r: it has as many
        units as inputs and takes the maxima of groups of r. A linear layer follows.
    maxout_dropout : `float`, optional (default = `0.0`)
        Drop probability after each maxout layer.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    integrator_dropout : `float`, optional (default = `0.0`)
        Drop probability on the features.
    settings : see `ClassificationModel`
    """

    default_predictor = "single_sentence"

    @inherits_settings(ClassificationModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2SeqEncoder,
        integrator: Seq2SeqEncoder,
        pre_encode_feedforward: Optional[Lazy[FeedForward]] = None,
        output_layer: Optional[Union[Maxout, FeedForward]] = None,
        reduction_factors: list[int] = [4, 2],  # noqa: B006
        maxout_dropout: float = 0.0,
        embedding_dropout: float = 0.0,
        integrator_dropout: float = 0.0,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        num_labels = len(self.labels)
        pre_encode_feedforward = pre_encode_feedforward or relu_layer(encoder.get_input_dim())
        self._set_embedder(text_field_embedder, embedding_dropout)
        self._pre_encode_feedforward = pre_encode_feedforward.construct(
            input_dim=text_field_embedder.get_output_dim()
        )
        check_fraction(maxout_dropout=maxout_dropout)
        if output_layer is None:
            output_layer = _maxout_network(
                4 * integrator.get_output_dim(), reduction_factors, num_labels, maxout_dropout
            )
        check_fit(pre_encode_feedforward=self._pre_encode_feedforward, encoder=encoder)
        check_dimensions_match(
            3 * encoder.get_output_dim(),
            integrator.get_input_dim(),
            "3 * encoder output dim",
            "integrator input dim",
        )
        check_dimensions_match(
            4 * integrator.get_output_dim(),
            output_layer.get_input_dim(),  # type: ignore[no-untyped-call]
            "4 * integrator output dim",
            "output_layer input dim",
        )
        check_dimensions_match(
            output_layer.get_output_dim(),  # type: ignore[no-untyped-call]
            num_labels,
            "output_layer output dim",
            "number of labels",
        )
        self._encoder = encoder
        self._integrator = integrator
        self._pooling = Pooling(integrator.get_output_dim(), ["max", "min", "mean"])
        self._self_attentive_pooling_projection = torch.nn.Linear(integrator.get_output_dim(), 1)
        self._integrator_dropout = dropout_layer("integrator_dropout", integrator_dropout)
        self._output_layer = output_layer
        self._initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        score: Optional[Tensor] = None,
    ) -> Output:
        """Classify B sentences. Return the results of `output`, `attention` (B, T, T), a row of
        weights over the sentence for each of its tokens, and `pooling_attention` (B, T).
        """
        features, shown = self._features(tokens)
        logits = self._output_layer(self._integrator_dropout(features))
        return self.output(logits, label, metadata, shown)

    def encode(self, tokens: TextFieldTensors) -> Tensor:
        """Return the features (B, 4 * the integrator's output size) of B sentences."""
        return self._features(tokens)[0]

    def _features(self, tokens: TextFieldTensors) -> tuple[Tensor, Output]:
        embedded, mask = self._embed(tokens)
        encoded = self._encoder(self._pre_encode_feedforward(embedded), mask)  # (B, T, E)
        scores = encoded.bmm(encoded.transpose(1, 2))  # (B, T, T)
        attention = masked_softmax(scores, mask.unsqueeze(1))  # (B, T, T)
        attended = attention.bmm(encoded)  # (B, T, E)
        integrated = self._integrator(  # (B, T, I)
            torch.cat([encoded, encoded - attended, encoded * attended], dim=-1), mask
        )
        scores = self._self_attentive_pooling_projection(integrated).squeeze(-1)  # (B, T)
        pooling_attention = masked_softmax(scores, mask)
        self_attentive = torch.einsum("bt,bti->bi", pooling_attention, integrated)  # (B, I)
        features = torch.cat([self._pooling(integrated, mask), self_attentive], dim=-1)
        shown: Output = {}
        add_attention(shown, "attention", attention, mask, mask)
        add_attention(shown, "pooling_attention", pooling_attention, mask)
        return features, shown


def _maxout_network(
    num_features: int, reduction_factors: list[int], num_labels: int, dropout: float
) -> Maxout:
    """Return maxout layers and a linear layer, which is a maxout layer with groups of one unit."""
    sizes = [num_features]
    for factor in reduction_factors:
        if factor < 1 or sizes[-1] // factor < 1:
            raise ConfigurationError(
                f"each of reduction_factors must be at least 1, and no more than the number of "
                f"features it reduces: got {reduction_factors} for {num_features} features"
            )
        sizes.append(sizes[-1] // factor)
    return Maxout(
        input_dim=num_features,
        num_layers=len(sizes),
        output_dims=[*sizes[1:], num_labels],
        pool_sizes=[*reduction_factors, 1],
        dropout=[dropout] * len(reduction_factors) + [0.0],
    )
