"""The diversity of generated sentences."""

from collections.abc import Iterable, Sequence

from allennlp.training.metrics import Metric

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.training.workers import gather


@Metric.register("distinct-1", constructor="unigrams")
@Metric.register("distinct-2", constructor="bigrams")
class Distinct(Metric):
    """The number of different n-grams, divided by the number of generated tokens.

    Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models"
    (https://arxiv.org/abs/1510.03055). The divisor is the number of tokens for bigrams, too.

    # Parameters

    n : `int`
        The length of the n-grams, at least 1.
    per_ngram : `bool`, optional (default = `False`)
        Divide by the number of generated n-grams instead, as the code that measured table 6.5 of
        the thesis does (`scripts/diversity.py`).
    """

    def __init__(self, n: int, per_ngram: bool = False) -> None:
        with configuration_errors():
            check_positive(n=n)
        self._n = n
        self._lost = n - 1 if per_ngram else 0
        self.reset()

    @classmethod
    def unigrams(cls) -> "Distinct":
        """Return distinct-1."""
        return cls(1)

    @classmethod
    def bigrams(cls) -> "Distinct":
        """Return distinct-2."""
        return cls(2)

    def __call__(self, sentences: Iterable[Sequence[str]]) -> None:  # type: ignore[override]
        """Count further generated sentences, each a sequence of tokens."""
        for tokens in sentences:
            self._num_tokens += max(len(tokens) - self._lost, 0)
            shifted = (tokens[i:] for i in range(self._n))
            self._ngrams.update(zip(*shifted))

    def get_metric(self, reset: bool = False) -> float:
        """Return the ratio, over all workers; 0 if nothing was generated."""
        # The workers' n-grams overlap, so the sets are combined, not their sizes.
        parts = gather((self._ngrams, self._num_tokens))
        ngrams = set().union(*(ngrams for ngrams, _ in parts))
        num_tokens = sum(number for _, number in parts)
        if reset:
            self.reset()
        return len(ngrams) / num_tokens if num_tokens else 0.0

    def reset(self) -> None:
        """Forget all sentences."""
        self._ngrams: set[tuple[str, ...]] = set()
        self._num_tokens = 0
