"""BLEU as SacreBLEU computes it."""

import logging
from collections.abc import Sequence

from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric

logger = logging.getLogger(__name__)


@Metric.register("sacre_bleu")
class SacreBleu(Metric):
    """Corpus-level BLEU of detokenized translations, from 0 to 100.

    [Post (2018)](https://aclanthology.org/W18-6319): the reference's own tokenization plays no
    part, so that figures compare across papers. Computed by the `sacrebleu` library (the extra
    `translation`) from counts that are summed over batches and workers, never averaged. The log has
    SacreBLEU's signature with each figure that ends an evaluation; the callback `bleu_signature`
    puts it into metrics.json.

    Registered as a `Metric` with name "sacre_bleu".

    # Parameters

    lowercase : `bool`, optional (default = `False`)
    tokenize : `str`, optional (default = `"13a"`)
        SacreBLEU's tokenization.
    """

    def __init__(self, lowercase: bool = False, tokenize: str = "13a") -> None:
        from sacrebleu import BLEU  # an extra, which only translation needs

        self._counts: list[int]
        self._bleu = BLEU(lowercase=lowercase, tokenize=tokenize)
        # Its signature has the number of references, which it knows once it has seen some.
        self._bleu.corpus_score(["a"], [["a"]])
        self.reset()

    def __call__(  # type: ignore[override]
        self, translations: Sequence[str], references: Sequence[str]
    ) -> None:
        """Count the n-grams of some more translations and of their references, one each."""
        if not translations:
            return
        score = self._bleu.corpus_score(list(translations), [list(references)])
        # Integers as floats: exact, and summed by every backend of torch.distributed.
        counts = [*score.counts, *score.totals, score.sys_len, score.ref_len]
        self._counts = [total + count for total, count in zip(self._counts, counts)]

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """`{"BLEU": ...}`, over all workers; 0 where nothing was translated."""
        counts = [int(dist_reduce_sum(count)) for count in self._counts]
        order = self._bleu.max_ngram_order
        score = self._bleu.compute_bleu(
            correct=counts[:order],
            total=counts[order : 2 * order],
            sys_len=counts[-2],
            ref_len=counts[-1],
            smooth_method=self._bleu.smooth_method,
            max_ngram_order=order,
        )
        if reset:
            self.reset()
            logger.info("BLEU %.2f (%s)", score.score, self.signature)
        return {"BLEU": score.score}

    @property
    def signature(self) -> str:
        """The settings behind the figure, to be reported with it."""
        return str(self._bleu.get_signature())

    def reset(self) -> None:
        """Forget all translations."""
        self._counts = [0] * (2 * self._bleu.max_ngram_order + 2)
