"""BLEU of translations."""

import logging
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

from allennlp_sentmatch.data.text import is_unsplit
from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn.checks import check_choice

logger = logging.getLogger(__name__)

MAX_ORDER = 4
"""The length of the longest n-grams that BLEU counts."""


class BleuCounts:
    """Counts of matching and of all n-grams of each length, and the two lengths in words."""

    def __init__(self) -> None:
        self._counts = [0] * (2 * MAX_ORDER + 2)

    def add(self, score: Any) -> None:
        """Add what SacreBLEU has counted for a score."""
        counts = [*score.counts, *score.totals, score.sys_len, score.ref_len]
        self._counts = [total + count for total, count in zip(self._counts, counts)]

    def figure(self, bleu: Any, order: int = MAX_ORDER) -> float:
        """Return the score of SacreBLEU's `bleu`, from 0 to 100, over all workers.

        It has n-grams of up to `order` words.
        """
        counts = [int(dist_reduce_sum(count)) for count in self._counts]
        score = bleu.compute_bleu(
            correct=counts[:order],
            total=counts[MAX_ORDER : MAX_ORDER + order],
            sys_len=counts[-2],
            ref_len=counts[-1],
            smooth_method=bleu.smooth_method,
            max_ngram_order=order,
        )
        return float(score.score)


@Metric.register("sacre_bleu")
class SacreBleu(Metric):
    """Corpus-level BLEU of detokenized translations, from 0 to 100.

    [Post (2018)](https://aclanthology.org/W18-6319): the reference's tokenization does not matter,
    so that figures can be compared across papers. Computed by the `sacrebleu` library (the extra
    `translation`) from counts that are summed over batches and workers, never averaged. The log has
    SacreBLEU's signature with each figure; the callback `bleu_signature` saves it in metrics.json.

    Raise `ConfigurationError` at first use without the extra or with an unknown `tokenize`.

    # Parameters

    lowercase : `bool`, optional (default = `False`)
    tokenize : `str`, optional (default = `"13a"`)
        SacreBLEU's tokenization; `"zh"` for Chinese, `"char"` for others without spaces between
        words. The log has a warning if it does not split the references.
    """

    def __init__(self, lowercase: bool = False, tokenize: str = "13a") -> None:
        self._lowercase = lowercase
        self._tokenize = tokenize
        self._has_warned = False
        self.reset()

    @cached_property
    def _bleu(self) -> Any:
        """The library's metric, loaded on first use: predictions do not need it."""
        try:
            from sacrebleu import BLEU
        except ImportError as error:
            raise ConfigurationError(
                "the metric sacre_bleu needs the extra [translation]: pip install sacrebleu "
                f"({error})"
            ) from error
        with configuration_errors():
            check_choice(*BLEU.TOKENIZERS, tokenize=self._tokenize)
        bleu = BLEU(lowercase=self._lowercase, tokenize=self._tokenize, max_ngram_order=MAX_ORDER)
        # Its signature includes the number of references, which is known only after the first call.
        bleu.corpus_score(["a"], [["a"]])
        return bleu

    def load_library(self) -> None:
        """Load `sacrebleu`, so that errors occur before the first epoch."""
        self._bleu  # noqa: B018  (cached)

    def __call__(  # type: ignore[override]
        self, translations: Sequence[str], references: Sequence[str]
    ) -> None:
        """Count the n-grams of further translations and of their references, one each."""
        if not translations:
            return
        self._counts.add(self._bleu.corpus_score(list(translations), [list(references)]))
        unsplit = (is_unsplit(self._bleu.tokenizer(text).split()) for text in references)
        if not self._has_warned and sum(unsplit) * 2 >= len(references):
            self._has_warned = True
            logger.warning(
                f"BLEU is near 0, as tokenize={self._tokenize!r} does not split the references: "
                "set the model's `bleu: {tokenize: 'zh'}` for Chinese, 'char' for other languages"
            )

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Return `{"BLEU": ...}`, over all workers; 0 if nothing was translated."""
        score = self._counts.figure(self._bleu)
        if reset:
            self.reset()
            logger.info("BLEU %.2f (%s)", score, self.signature)
        return {"BLEU": score}

    @property
    def signature(self) -> str:
        """The settings of the figure, to be reported with it."""
        return str(self._bleu.get_signature())

    def reset(self) -> None:
        """Remove all translations."""
        self._counts = BleuCounts()
