"""Two sentences through one encoder, and a score of their similarity."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from torch import Tensor

from allennlp_sentmatch.models.score_model import ScoreModel
from allennlp_sentmatch.models.siamese_model import SiameseModel
from allennlp_sentmatch.modules import PairScorer
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer


@Model.register("similarity_regressor")
class SimilarityRegressor(SiameseModel, ScoreModel):
    """Predicts how similar two sentences are, as a score between a lowest and a highest one.

    For data such as STS Benchmark (0 to 5) and the relatedness of SICK (1 to 5). One shared encoder
    reads both sentences separately; the scorer turns their vectors into the score: "graded" by a
    distribution over integer grades ([Tai et al. 2015](https://arxiv.org/abs/1503.00075)), "cosine"
    by the cosine of the vectors.

    Registered as a `Model` with name "similarity_regressor".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2VecEncoder`
        Reads each of the two sentences. To use a `Seq2SeqEncoder`, wrap it in "pooled".
    scorer : `Lazy[PairScorer]`
        "graded" or "cosine". A configuration leaves out its `input_size`, `lowest_score` and
        `highest_score`.
    lowest_score, highest_score : `float`
        The ends of the scale.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    regularizer : `ModelRegularizer`, optional (default = `None`)
    """

    default_predictor = "sentence_pair"

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        scorer: Lazy[PairScorer],
        lowest_score: float,
        highest_score: float,
        embedding_dropout: float = 0.0,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        regularizer: Optional[ModelRegularizer] = None,
    ) -> None:
        super().__init__(vocab, lowest_score, highest_score, regularizer)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        self._scorer = scorer.construct(
            input_size=encoder.get_output_dim(),
            lowest_score=lowest_score,
            highest_score=highest_score,
        )
        initializer(self)

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        score: Optional[Tensor] = None,
        label: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
    ) -> dict[str, Any]:
        """Score a batch of B pairs.

        # Parameters

        premise : `TextFieldTensors`
        hypothesis : `TextFieldTensors`
        score : `Tensor`, optional (default = `None`)
            (B,), the true scores. With them there is a loss, and the metrics are updated.
        label : `Tensor`, optional (default = `None`)
            Not used: some data, such as SICK, have scores and labels.
        metadata : `List[Dict[str, Any]]`, optional (default = `None`)

        # Returns

        `Dict[str, Any]`
            See `ScoreModel.output`; with `loss`, the scorer's, and the internals of an
            `InterpretableEncoder`, named `premise_...` and `hypothesis_...`.
        """
        # Shape: (B, E) twice
        premise_vectors, hypothesis_vectors, shown = self._encode_pairs(premise, hypothesis)
        compared = self._scorer(premise_vectors, hypothesis_vectors)
        output = self.output(self._scorer.score(compared), score, metadata)
        if score is not None:
            output["loss"] = self._scorer.loss(compared, score)
        return {**output, **shown}

    def compare(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> dict[str, Any]:
        """The scores of B pairs of encoded sentences, each (B, E)."""
        return self.output(self._scorer.score(self._scorer(premise_vectors, hypothesis_vectors)))
