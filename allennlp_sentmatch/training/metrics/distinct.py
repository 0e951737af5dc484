"""The diversity of generated sentences."""

from collections.abc import Iterable, Sequence

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric
from torch import distributed


@Metric.register("distinct-1", constructor="unigrams")
@Metric.register("distinct-2", constructor="bigrams")
class Distinct(Metric):
    """The number of different n-grams, divided by the number of generated tokens.

    Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models"
    (https://arxiv.org/abs/1510.03055). The divisor is the number of tokens for bigrams, too.

    # Parameters

    n : `int`
        The length of the n-grams, at least 1.
    """

    def __init__(self, n: int) -> None:
        if n < 1:
            raise ConfigurationError(f"n is {n}; it must be at least 1")
        self._n = n
        self.reset()

    @classmethod
    def unigrams(cls) -> "Distinct":
        """distinct-1."""
        return cls(1)

    @classmethod
    def bigrams(cls) -> "Distinct":
        """distinct-2."""
        return cls(2)

    def __call__(self, sentences: Iterable[Sequence[str]]) -> None:  # type: ignore[override]
        """Count some more generated sentences, each a sequence of tokens."""
        for tokens in sentences:
            self._num_tokens += len(tokens)
            shifted = (tokens[i:] for i in range(self._n))
            self._ngrams.update(zip(*shifted))

    def get_metric(self, reset: bool = False) -> float:
        """The ratio, over all workers; 0 where nothing was generated."""
        ngrams, num_tokens = self._ngrams, self._num_tokens
        if is_distributed():
            # The workers' n-grams overlap: it takes the sets, not their sizes.
            parts: list[tuple[set[tuple[str, ...]], int]] = [(set(), 0)] * (
                distributed.get_world_size()
            )
            distributed.all_gather_object(parts, (ngrams, num_tokens))
            ngrams = set().union(*(part[0] for part in parts))
            num_tokens = sum(part[1] for part in parts)
        if reset:
            self.reset()
        return len(ngrams) / num_tokens if num_tokens else 0.0

    def reset(self) -> None:
        """Forget all sentences."""
        self._ngrams: set[tuple[str, ...]] = set()
        self._num_tokens = 0
