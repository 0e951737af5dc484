"""Models that encode the two sentences of a pair separately, by one shared encoder."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.score_model import ScoreModel
from allennlp_sentmatch.models.text_model import Metadata, Output, TextModel
from allennlp_sentmatch.modules import Classifier, Matcher, PairScorer
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn import PairComparison


class SiameseModel(TextModel):
    """A model with one encoder for both sentences, whose vectors can be stored and compared later.

    A subclass also inherits from the base class of its output: `class
    SiameseClassifier(SiameseModel, ClassificationModel)`. Not registered itself.
    """

    def encode(self, tokens: TextFieldTensors) -> Tensor:
        """Return the vectors (B, E) of B sentences, to be compared as often as needed."""
        return self._vectors(tokens)

    def compare(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> Output:
        """Return the output of `forward` for B pairs of encoded sentences, each (B, E).

        Raise `ConfigurationError` if the model also compares the words of two texts.
        """
        raise NotImplementedError

    @property
    def compares_words(self) -> bool:
        """True if a pair is also compared by the words of its texts, which vectors lack."""
        return False


@Model.register("siamese_classifier")
class SiameseClassifier(SiameseModel, ClassificationModel):
    """Classifies the relation of two sentences, each encoded separately by one shared encoder.

    Choi, Kim and Lee 2019 (https://arxiv.org/abs/1809.02279, section 3.3 and eqs 14-16) with a
    CAS-LSTM; the thesis's chapters 3 to 5 with other encoders and matchers.

    # Parameters

    encoder : `Seq2VecEncoder`
        Reads each of the two sentences. To use a `Seq2SeqEncoder`, wrap it in "pooled".
    matcher : `Lazy[Matcher]`
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings, the thesis's p_w.
    num_word_features : `int`, optional (default = `None`)
        With a number, the logits of a `nn.PairComparison` are added to the classifier's: it
        compares the vectors by their cosine, and reads this many features of the words. The reader
        makes 16 with its `word_features`, by which a few hundred pairs suffice to learn what a
        "not" changes. With a number above 0, stored vectors cannot be compared.
    settings : see `ClassificationModel`
    """

    @inherits_settings(ClassificationModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        matcher: Lazy[Matcher],
        classifier: Lazy[Classifier] = Lazy(Classifier),  # noqa: B008
        embedding_dropout: float = 0.0,
        num_word_features: Optional[int] = None,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        self._matcher = matcher.construct(input_size=encoder.get_output_dim())
        self._classifier = self._construct_classifier(classifier, self._matcher.get_output_dim())
        self._comparison: Optional[PairComparison] = None
        if num_word_features is not None:
            self._comparison = PairComparison(
                encoder.get_output_dim(), len(self.labels), num_word_features
            )
        self._initializer(self)

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        score: Optional[Tensor] = None,
        word_features: Optional[Tensor] = None,
    ) -> Output:
        """Classify B pairs. Return the results of `output`, and what the encoder shows.

        `word_features` (B, K), the reader's, are needed if `num_word_features` is K, and otherwise
        not used.
        """
        vectors, shown = self._encode({"premise_": premise, "hypothesis_": hypothesis})
        premise_vectors, hypothesis_vectors = vectors
        logits = self.match(premise_vectors, hypothesis_vectors, word_features)
        return self.output(logits, label, metadata, shown)

    def match(
        self,
        premise_vectors: Tensor,
        hypothesis_vectors: Tensor,
        word_features: Optional[Tensor] = None,
    ) -> Tensor:
        """Return the logits (B, num_labels) of B pairs of encoded sentences, each (B, E).

        Raise `ConfigurationError` unless `word_features` (B, K) are given if the model needs them.
        """
        logits: Tensor = self._classifier(self._matcher(premise_vectors, hypothesis_vectors))
        if self._comparison is None:
            return logits
        with configuration_errors():
            compared: Tensor = self._comparison(premise_vectors, hypothesis_vectors, word_features)
        return logits + compared

    @property
    def compares_words(self) -> bool:
        """See `SiameseModel`."""
        return self._comparison is not None and self._comparison.num_word_features > 0

    def compare(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> Output:
        """Return the labels of B pairs of encoded sentences, each (B, E)."""
        return self.output(self.match(premise_vectors, hypothesis_vectors))


@Model.register("similarity_regressor")
class SimilarityRegressor(SiameseModel, ScoreModel):
    """Predicts how similar two sentences are, as a score between a lowest and a highest one.

    For data such as STS Benchmark (0 to 5) and the relatedness of SICK (1 to 5). Sentences are
    encoded as by `SiameseClassifier`; the scorer turns two vectors into the score: "graded" by a
    distribution over integer grades ([Tai et al. 2015](https://arxiv.org/abs/1503.00075)),
    "cosine" by the cosine of the vectors.

    # Parameters

    encoder : `Seq2VecEncoder`
    scorer : `Lazy[PairScorer]`
        "graded" or "cosine".
    lowest_score, highest_score : `float`
        The ends of the scale.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    settings : see `ScoreModel`
    """

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
        **settings: Any,
    ) -> None:
        super().__init__(vocab, lowest_score, highest_score, **settings)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        self._scorer = scorer.construct(
            input_size=encoder.get_output_dim(),
            lowest_score=lowest_score,
            highest_score=highest_score,
        )
        self._initializer(self)

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        score: Optional[Tensor] = None,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
    ) -> Output:
        """Score B pairs. Return the results of `output`, and what the encoder shows."""
        vectors, shown = self._encode({"premise_": premise, "hypothesis_": hypothesis})
        return self.output(self._scorer(*vectors), score, metadata, shown)

    def scores(self, features: Tensor) -> Tensor:
        """Return the scorer's scores (B,)."""
        return self._scorer.score(features)

    def loss(self, features: Tensor, score: Tensor) -> Tensor:
        """Return the scorer's loss, a scalar."""
        return self._scorer.loss(features, score)

    def compare(self, premise_vectors: Tensor, hypothesis_vectors: Tensor) -> Output:
        """Return the scores of B pairs of encoded sentences, each (B, E)."""
        return self.output(self._scorer(premise_vectors, hypothesis_vectors))
