"""BLEU as SacreBLEU computes it."""

import logging
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

logger = logging.getLogger(__name__)

MAX_ORDER = 4
"""The length of the longest n-grams that BLEU counts."""


@Metric.register("sacre_bleu")
class SacreBleu(Metric):
    """Corpus-level BLEU of detokenized translations, from 0 to 100.

    [Post (2018)](https://aclanthology.org/W18-6319): the reference's own tokenization plays no
    part, so that figures compare across papers. Computed by the `sacrebleu` library (the extra
    `translation`) from counts that are summed over batches and workers, never averaged. The log has
    SacreBLEU's signature with each figure that ends an evaluation; the callback `bleu_signature`
    puts it into metrics.json.

    # Parameters

    lowercase : `bool`, optional (default = `False`)
    tokenize : `str`, optional (default = `"13a"`)
        SacreBLEU's tokenization.

    # Raises

    `ConfigurationError` where the metric is first used, if the extra is not installed or `tokenize`
    is unknown.
    """

    def __init__(self, lowercase: bool = False, tokenize: str = "13a") -> None:
        self._lowercase = lowercase
        self._tokenize = tokenize
        self._counts: list[int]
        self.reset()

    @cached_property
    def _bleu(self) -> Any:
        """The library's metric, loaded with the first use: predicting needs none."""
        try:
            from sacrebleu import BLEU
        except ImportError as error:
            raise ConfigurationError(
                "the metric sacre_bleu needs the extra [translation]: pip install sacrebleu "
                f"({error})"
            ) from error
        if self._tokenize not in BLEU.TOKENIZERS:
            raise ConfigurationError(
                f"tokenize must be one of {', '.join(BLEU.TOKENIZERS)}, got {self._tokenize!r}"
            )
        bleu = BLEU(lowercase=self._lowercase, tokenize=self._tokenize, max_ngram_order=MAX_ORDER)
        # Its signature has the number of references, which it knows once it has seen some.
        bleu.corpus_score(["a"], [["a"]])
        return bleu

    def load_library(self) -> None:
        """Load `sacrebleu`, to raise an error before the first epoch and not after it."""
        self._bleu  # noqa: B018  (cached)

    def __call__(  # type: ignore[override]
        self, translations: Sequence[str], references: Sequence[str]
    ) -> None:
        """Count the n-grams of some more translations and of their references, one each."""
        if not translations:
            return
        score = self._bleu.corpus_score(list(translations), [list(references)])
        counts = [*score.counts, *score.totals, score.sys_len, score.ref_len]
        self._counts = [total + count for total, count in zip(self._counts, counts)]

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """`{"BLEU": ...}`, over all workers; 0 where nothing was translated."""
        score = bleu_of_counts(self._bleu, [int(dist_reduce_sum(n)) for n in self._counts])
        if reset:
            self.reset()
            logger.info("BLEU %.2f (%s)", score, self.signature)
        return {"BLEU": score}

    @property
    def signature(self) -> str:
        """The settings behind the figure, to be reported with it."""
        return str(self._bleu.get_signature())

    def reset(self) -> None:
        """Remove all translations."""
        self._counts = [0] * (2 * MAX_ORDER + 2)


def bleu_of_counts(bleu: Any, counts: Sequence[int], order: int = MAX_ORDER) -> float:
    """The score of SacreBLEU's `bleu`, with n-grams of up to `order`, for the counts of matching
    and of all n-grams of each length, and the two lengths in words.
    """
    score = bleu.compute_bleu(
        correct=counts[:order],
        total=counts[MAX_ORDER : MAX_ORDER + order],
        sys_len=counts[-2],
        ref_len=counts[-1],
        smooth_method=bleu.smooth_method,
        max_ngram_order=order,
    )
    return float(score.score)
