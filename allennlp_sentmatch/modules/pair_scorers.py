"""Similarity scores of two sentence vectors, as AllenNLP components."""

import torch.nn.functional as F
from allennlp.common import Lazy, Registrable
from torch import Tensor, nn

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.holders import Classifier
from allennlp_sentmatch.modules.matchers import Matcher, SymmetricMatcher
from allennlp_sentmatch.nn import similarity


class PairScorer(nn.Module, Registrable):
    """Turns two vectors of the same size into a score of their similarity.

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in from their encoder.
    lowest_score, highest_score : `float`
        All scores lie between them. Models fill them in.
    """

    default_implementation = "graded"

    def __init__(
        self,
        input_size: int,
        lowest_score: float,
        highest_score: float,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.lowest_score = lowest_score
        self.highest_score = highest_score

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Compare `a` and `b`, each (B, d). `score` and `loss` take the result, (B, ...)."""
        raise NotImplementedError

    def score(self, compared: Tensor) -> Tensor:
        """Return the scores (B,) of compared vectors."""
        raise NotImplementedError

    def loss(self, compared: Tensor, scores: Tensor) -> Tensor:
        """Return the loss, a scalar, of compared vectors whose true `scores` are (B,)."""
        raise NotImplementedError


@PairScorer.register("cosine")
class CosineScorer(PairScorer):
    """The cosine of the two vectors, from 0 (the lowest score) to 1 (the highest one).

    Without parameters: the encoder learns vectors whose cosine is the similarity, so that the
    nearest neighbors of `allennlp search` are the most similar sentences. A negative cosine gets
    the lowest score. The loss is the mean squared error of the cosine, also a negative one, in
    units of the score.
    """

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Scale the cosines (B,) of `a` and `b`, each (B, d)."""
        return similarity.scaled_cosine(a, b, self.lowest_score, self.highest_score)

    def score(self, compared: Tensor) -> Tensor:
        """Return the scores (B,) of scaled cosines."""
        return compared.clamp(self.lowest_score, self.highest_score)

    def loss(self, compared: Tensor, scores: Tensor) -> Tensor:
        """Return the mean squared error, a scalar, of scaled cosines."""
        return F.mse_loss(compared, scores.to(compared.dtype))


@PairScorer.register("graded")
class GradedScorer(PairScorer):
    """The expectation of a distribution over integer grades, which a matcher and a classifier
    predict: [Tai et al. (2015)](https://arxiv.org/abs/1503.00075), section 4.2.

    The loss is the Kullback-Leibler divergence from the distribution over the two nearest grades
    whose expectation is the true score (`allennlp_sentmatch.nn.similarity`).

    # Parameters

    input_size : `int`
    lowest_score, highest_score : `float`
        Whole numbers, the lowest and the highest grade.
    matcher : `Lazy[Matcher]`, optional (default = `Lazy(SymmetricMatcher)`)
        A configuration leaves out its `input_size`. By default, as in the paper, the absolute
        difference and the product.
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
        A configuration leaves out its `input_size` and `num_labels`, which is the number of grades.
        By default, one hidden layer of 1024 with batch normalization.
    """

    def __init__(
        self,
        input_size: int,
        lowest_score: float,
        highest_score: float,
        matcher: Lazy[Matcher] = Lazy(SymmetricMatcher),  # noqa: B008
        classifier: Lazy[Classifier] = Lazy(Classifier),  # noqa: B008
    ) -> None:
        super().__init__(input_size, lowest_score, highest_score)
        self._matcher = matcher.construct(input_size=input_size)
        with configuration_errors():
            num_labels = similarity.num_grades(lowest_score, highest_score)
        self._classifier = classifier.construct(
            input_size=self._matcher.get_output_dim(), num_labels=num_labels
        ).module

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Predict the logits (B, number of grades) of `a` and `b`, each (B, d)."""
        logits: Tensor = self._classifier(self._matcher(a, b))
        return logits

    def score(self, compared: Tensor) -> Tensor:
        """Return the scores (B,) of logits."""
        return similarity.expected_grade(compared, self.lowest_score, self.highest_score)

    def loss(self, compared: Tensor, scores: Tensor) -> Tensor:
        """Return the mean divergence, a scalar, of logits from the distributions of the true
        `scores`.
        """
        return similarity.grade_divergence(compared, scores, self.lowest_score, self.highest_score)
