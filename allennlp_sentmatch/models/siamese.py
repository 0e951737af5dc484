"""Models that encode the two sentences of a pair separately, by one shared encoder."""

from typing import Any

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.internals import encode_texts
from allennlp_sentmatch.models.score_model import ScoreModel
from allennlp_sentmatch.modules import Classifier, Matcher, PairScorer
from allennlp_sentmatch.modules.configuration_errors import inherits_settings
from allennlp_sentmatch.modules.parts import check_fit, dropout_layer


class SiameseModel(Model):
    """One encoder for both sentences, whose vectors can be stored and compared later.

    A subclass calls `_set_encoder` in its constructor and inherits from the base class of its
    output, too: `class SiameseClassifier(SiameseModel, ClassificationModel)`. Not registered
    itself.
    """

    def _set_encoder(
        self,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        embedding_dropout: float,
    ) -> None:
        check_fit(text_field_embedder=text_field_embedder, encoder=encoder)
        self._text_field_embedder = text_field_embedder
        self._embedding_dropout = dropout_layer("embedding_dropout", embedding_dropout)
        self._encoder = encoder

    def encode(self, tokens: TextFieldTensors) -> Tensor:
        """The vectors (B, E) of B sentences, to be compared as often as needed."""
        vectors: Tensor = self._encoder(*self._embed(tokens))
        return vectors

    def compare(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> dict[str, Any]:
        """The output of `forward` for B pairs of encoded sentences, each (B, E), without what the
        encoder shows.
        """
        raise NotImplementedError

    def _encode_pairs(
        self, premise: TextFieldTensors, hypothesis: TextFieldTensors
    ) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
        """The vectors of B pairs, (B, E) twice, and what the encoder shows, for the output."""
        texts = {"premise_": self._embed(premise), "hypothesis_": self._embed(hypothesis)}
        return encode_texts(self._encoder, texts)

    def _embed(self, tokens: TextFieldTensors) -> tuple[Tensor, Tensor]:
        # Shape: (B, T, D) and (B, T)
        embedded = self._embedding_dropout(self._text_field_embedder(tokens))
        return embedded, get_text_field_mask(tokens)


@Model.register("siamese_classifier")
class SiameseClassifier(SiameseModel, ClassificationModel):
    """Classifies the relation of two sentences, each encoded separately by one shared encoder.

    Choi, Kim and Lee 2019 (https://arxiv.org/abs/1809.02279, section 3.3 and eqs 14-16) with a
    CAS-LSTM; the thesis's chapters 3 to 5 with other encoders and matchers. Both sentences of a
    pair are encoded in one call. The output has the internals of an `InterpretableEncoder`, named
    `premise_...` and `hypothesis_...`.

    Registered as a `Model` with name "siamese_classifier".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2VecEncoder`
        Reads each of the two sentences. To use a `Seq2SeqEncoder`, wrap it in "pooled".
    matcher : `Lazy[Matcher]`
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings, the thesis's p_w.
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
        encoder: Seq2VecEncoder,
        matcher: Lazy[Matcher],
        classifier: Lazy[Classifier] = Lazy(Classifier),  # noqa: B008
        embedding_dropout: float = 0.0,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        self._matcher = matcher.construct(input_size=encoder.get_output_dim())
        check_fit(encoder=encoder, matcher=self._matcher)
        self._classifier = self._construct_classifier(classifier, self._matcher.get_output_dim())
        initializer(self)

    def classify(
        self, premise: TextFieldTensors, hypothesis: TextFieldTensors
    ) -> tuple[Tensor, dict[str, Any]]:
        """The logits (B, num_labels) of B pairs, and what the encoder shows."""
        vectors, shown = self._encode_pairs(premise, hypothesis)
        return self.match(*vectors), shown

    def match(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> Tensor:
        """The logits (B, num_labels) of B pairs of encoded sentences, each (B, E)."""
        logits: Tensor = self._classifier(self._matcher(premise_vectors, hypothesis_vectors))
        return logits

    def compare(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> dict[str, Any]:
        """The labels' probabilities of B pairs of encoded sentences, each (B, E)."""
        return self.output(self.match(premise_vectors, hypothesis_vectors))


@Model.register("similarity_regressor")
class SimilarityRegressor(SiameseModel, ScoreModel):
    """Predicts how similar two sentences are, as a score between a lowest and a highest one.

    For data such as STS Benchmark (0 to 5) and the relatedness of SICK (1 to 5). One shared encoder
    reads both sentences separately; the scorer turns their vectors into the score: "graded" by a
    distribution over integer grades ([Tai et al. 2015](https://arxiv.org/abs/1503.00075)), "cosine"
    by the cosine of the vectors. The output has the internals of an `InterpretableEncoder`, named
    `premise_...` and `hypothesis_...`.

    Registered as a `Model` with name "similarity_regressor".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2VecEncoder`
        Reads each of the two sentences. To use a `Seq2SeqEncoder`, wrap it in "pooled".
    scorer : `Lazy[PairScorer]`
        "graded" or "cosine".
    lowest_score, highest_score : `float`
        The ends of the scale.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    settings
        The `regularizer` of `ScoreModel`.
    """

    default_predictor = "sentence_pair"

    @inherits_settings(ScoreModel)
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
        **settings: Any,
    ) -> None:
        super().__init__(vocab, lowest_score, highest_score, **settings)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        self._scorer = scorer.construct(
            input_size=encoder.get_output_dim(),
            lowest_score=lowest_score,
            highest_score=highest_score,
        )
        initializer(self)

    def read(
        self, premise: TextFieldTensors, hypothesis: TextFieldTensors
    ) -> tuple[Tensor, dict[str, Any]]:
        """The scorer's comparisons (B, ...) of B pairs, and what the encoder shows."""
        vectors, shown = self._encode_pairs(premise, hypothesis)
        return self._scorer(*vectors), shown

    def scores(self, features: Tensor) -> Tensor:
        """The scorer's."""
        return self._scorer.score(features)

    def loss(self, features: Tensor, score: Tensor) -> Tensor:
        """The scorer's."""
        return self._scorer.loss(features, score)

    def compare(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> dict[str, Any]:
        """The scores of B pairs of encoded sentences, each (B, E)."""
        return self.output(self.scores(self._scorer(premise_vectors, hypothesis_vectors)))
