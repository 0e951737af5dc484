"""A pretrained transformer that reads both sentences together, and a score of their similarity."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from torch import Tensor

from allennlp_sentmatch.models.cross_encoder import LINEAR_CLASSIFIER
from allennlp_sentmatch.models.cross_encoder_model import CrossEncoderModel
from allennlp_sentmatch.models.score_model import ScoreModel
from allennlp_sentmatch.modules import Classifier
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from allennlp_sentmatch.nn.similarity import expected_grade, grade_divergence, num_grades


@Model.register("cross_encoder_regressor")
class CrossEncoderRegressor(CrossEncoderModel, ScoreModel):
    """Predicts how similar two sentences are that a transformer reads as one text.

    "cross_encoder" for scores: the score is the expectation of a distribution over integer grades,
    as with the scorer "graded" of "similarity_regressor" ([Tai et al.
    2015](https://arxiv.org/abs/1503.00075)).

    Registered as a `Model` with name "cross_encoder_regressor".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
        With the token embedder "pretrained_transformer".
    lowest_score, highest_score : `float`
        The ends of the scale: whole numbers.
    encoder : `Seq2VecEncoder`, optional (default = `ClsPooler`)
        From the vectors of all tokens to that of the pair; by default, the first token's.
    classifier : `Lazy[Classifier]`, optional
        Predicts the grade. A configuration leaves out its `input_size` and `num_labels`. By default
        linear, with dropout 0.1.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    regularizer : `ModelRegularizer`, optional (default = `None`)
    """

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        lowest_score: float,
        highest_score: float,
        encoder: Optional[Seq2VecEncoder] = None,
        classifier: Lazy[Classifier] = LINEAR_CLASSIFIER,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        regularizer: Optional[ModelRegularizer] = None,
    ) -> None:
        super().__init__(vocab, lowest_score, highest_score, regularizer)
        with configuration_errors():
            num_labels = num_grades(lowest_score, highest_score)
        self._classifier = classifier.construct(
            input_size=self._set_encoder(text_field_embedder, encoder), num_labels=num_labels
        ).module
        initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        score: Optional[Tensor] = None,
        label: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
    ) -> dict[str, Any]:
        """Score a batch of B pairs.

        # Parameters

        tokens : `TextFieldTensors`
            Both sentences of each pair.
        score : `Tensor`, optional (default = `None`)
            (B,), the true scores. With them there is a loss, and the metrics are updated.
        label : `Tensor`, optional (default = `None`)
            Not used: some data, such as SICK, have scores and labels.
        metadata : `List[Dict[str, Any]]`, optional (default = `None`)

        # Returns

        `Dict[str, Any]`
            See `ScoreModel.output`; with `loss` and the internals of an `InterpretableEncoder`.
        """
        vectors, shown = self._encode_pair(tokens)
        # Shape: (B, number of grades)
        logits = self._classifier(vectors)
        scale = (self.lowest_score, self.highest_score)
        output = self.output(expected_grade(logits, *scale), score, metadata)
        if score is not None:
            output["loss"] = grade_divergence(logits, score, *scale)
        return {**output, **shown}
