"""The pair scorer `graded`."""

from allennlp.common import Lazy
from allennlp.common.checks import check_dimensions_match
from torch import Tensor

from allennlp_sentmatch.modules.classifier import Classifier
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.matchers import Matcher, SymmetricMatcher
from allennlp_sentmatch.modules.pair_scorers.pair_scorer import PairScorer
from allennlp_sentmatch.nn.similarity import expected_grade, grade_divergence, num_grades


@PairScorer.register("graded")
class GradedScorer(PairScorer):
    """The expectation of a distribution over integer grades, which a matcher and a classifier
    predict: [Tai et al. (2015)](https://arxiv.org/abs/1503.00075), section 4.2.

    The loss is the Kullback-Leibler divergence from the distribution over the two nearest grades
    whose expectation is the true score (`allennlp_sentmatch.nn.similarity`).

    Registered as a `PairScorer` with name "graded".

    # Parameters

    input_size : `int`
        The size of each of the two vectors. Models fill it in.
    lowest_score, highest_score : `float`
        The lowest and the highest grade: whole numbers. Models fill them in.
    matcher : `Lazy[Matcher]`, optional (default = `Lazy(SymmetricMatcher)`)
        A configuration leaves out its `input_size`. By default, as in the paper, the absolute
        difference and the product.
    classifier : `Lazy[Classifier]`, optional (default = `Lazy(Classifier)`)
        A configuration leaves out its `input_size` and `num_labels`, which is the number of grades.
        By default, one hidden layer of 1024 with batch normalization.

    # Raises

    `ConfigurationError`
        If the lowest or the highest score is not a whole number.
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
        check_dimensions_match(
            input_size, self._matcher.get_input_dim(), "input_size", "matcher input dim"
        )
        with configuration_errors():
            num_labels = num_grades(lowest_score, highest_score)
        self._classifier = classifier.construct(
            input_size=self._matcher.get_output_dim(), num_labels=num_labels
        ).module

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Predict the logits (B, number of grades) of `a` and `b`, each (B, d)."""
        logits: Tensor = self._classifier(self._matcher(a, b))
        return logits

    def score(self, compared: Tensor) -> Tensor:
        """The scores (B,) of logits."""
        return expected_grade(compared, self.lowest_score, self.highest_score)

    def loss(self, compared: Tensor, scores: Tensor) -> Tensor:
        """The mean divergence, a scalar, of logits from the distributions of the true `scores`."""
        return grade_divergence(compared, scores, self.lowest_score, self.highest_score)
