"""Models that encode the two sentences of a pair together, by a pretrained transformer."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.modules.seq2vec_encoders import ClsPooler
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.score_model import ScoreModel
from allennlp_sentmatch.models.text_model import Metadata, Output
from allennlp_sentmatch.modules import Classifier
from allennlp_sentmatch.nn import expected_grade, grade_divergence, num_grades

_LINEAR_CLASSIFIER = Lazy(Classifier, num_layers=0, dropout=0.1, batch_norm=False)


@Model.register("cross_encoder")
class CrossEncoder(ClassificationModel):
    """Classifies the relation of two sentences that a transformer reads as one text: the
    fine-tuning of BERT for pairs ([Devlin et al. 2019](https://arxiv.org/abs/1810.04805)).

    Each word can attend to the words of the other sentence. This is more accurate than a
    "siamese_classifier", but slower for all pairs of many sentences, since a single sentence has no
    vector. `allennlp search --rescore` combines the two. The reader is "sentence_pair" with
    `combine_input_fields: true`.

    # Parameters

    text_field_embedder : `TextFieldEmbedder`
        With the token embedder "pretrained_transformer".
    encoder : `Seq2VecEncoder`, optional (default = `ClsPooler`)
        Computes the pair's vector from the vectors of all tokens; by default, it is the first
        token's vector.
    classifier : `Lazy[Classifier]`, optional
        By default linear, with dropout 0.1.
    settings : see `ClassificationModel`
    """

    @inherits_settings(ClassificationModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Optional[Seq2VecEncoder] = None,
        classifier: Lazy[Classifier] = _LINEAR_CLASSIFIER,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        encoder = encoder or ClsPooler(text_field_embedder.get_output_dim())
        self._set_encoder(text_field_embedder, encoder)
        self._classifier = self._construct_classifier(classifier, encoder.get_output_dim())
        self._initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        score: Optional[Tensor] = None,
    ) -> Output:
        """Classify B joined pairs. Return the results of `output`, and what the encoder shows."""
        (vectors,), shown = self._encode({"": tokens})
        return self.output(self._classifier(vectors), label, metadata, shown)


@Model.register("cross_encoder_regressor")
class CrossEncoderRegressor(ScoreModel):
    """Predicts how similar two sentences are that a transformer reads as one text.

    "cross_encoder" for scores: the score is the expectation of a distribution over integer grades,
    as with the scorer "graded" of "similarity_regressor" ([Tai et al.
    2015](https://arxiv.org/abs/1503.00075)).

    # Parameters

    lowest_score, highest_score : `float`
        The ends of the scale: whole numbers.
    encoder : `Seq2VecEncoder`, optional (default = `ClsPooler`)
    classifier : `Lazy[Classifier]`, optional
        As in `CrossEncoder`; it predicts the grade.
    settings : see `ScoreModel`
    """

    @inherits_settings(ScoreModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        lowest_score: float,
        highest_score: float,
        encoder: Optional[Seq2VecEncoder] = None,
        classifier: Lazy[Classifier] = _LINEAR_CLASSIFIER,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, lowest_score, highest_score, **settings)
        num_labels = num_grades(lowest_score, highest_score)
        encoder = encoder or ClsPooler(text_field_embedder.get_output_dim())
        self._set_encoder(text_field_embedder, encoder)
        self._classifier = classifier.construct(
            input_size=encoder.get_output_dim(), num_labels=num_labels
        ).module
        self._initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        score: Optional[Tensor] = None,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
    ) -> Output:
        """Score B joined pairs. Return the results of `output`, and what the encoder shows."""
        (vectors,), shown = self._encode({"": tokens})
        return self.output(self._classifier(vectors), score, metadata, shown)

    def scores(self, features: Tensor) -> Tensor:
        """Return the expected grades (B,)."""
        return expected_grade(features, self.lowest_score, self.highest_score)

    def loss(self, features: Tensor, score: Tensor) -> Tensor:
        """Return the divergence from the distributions of the true scores."""
        return grade_divergence(features, score, self.lowest_score, self.highest_score)
