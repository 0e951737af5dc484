"""Metrics of generated texts: BLEU, the overlap of answers, and diversity."""

import logging
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Optional

import regex
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.nn.util import dist_reduce_sum
from allennlp.training import GradientDescentTrainer, TrainerCallback
from allennlp.training.metrics import Metric
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score
from torch import distributed

from allennlp_sentmatch.data.text import UNSPACED, is_unsplit
from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn.checks import check_choice, check_positive

logger = logging.getLogger(__name__)

MAX_ORDER = 4
"""The length of the longest n-grams that BLEU counts."""


def _words(text: str) -> list[str]:
    words: list[str] = regex.findall(r"[\p{L}\p{M}\p{Nd}]+", text.lower())
    return words


class _BleuCounts:
    """Counts of matching and of all n-grams of each length, and the two lengths in words."""

    def __init__(self) -> None:
        self._counts = [0] * (2 * MAX_ORDER + 2)

    def add(self, score: Any) -> None:
        counts = [*score.counts, *score.totals, score.sys_len, score.ref_len]
        self._counts = [total + count for total, count in zip(self._counts, counts)]

    def figure(self, bleu: Any, order: int = MAX_ORDER) -> float:
        """Return the score of SacreBLEU's `bleu`, with n-grams of up to `order`, over all
        workers.
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

    Raises a `ConfigurationError` at first use without the extra or with an unknown `tokenize`.

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
        self._counts = _BleuCounts()


@TrainerCallback.register("bleu_signature")
class BleuSignatureCallback(TrainerCallback):
    """Adds SacreBLEU's signature, as `BLEU_signature`, to the metrics.json of a training run.

    A model's metrics are numbers, since AllenNLP plots and averages them; but metrics.json, which
    it writes after training, may contain text.

    Raises a `ConfigurationError` if the model has no attribute `bleu`, a `SacreBleu`.
    """

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Check the model."""
        if not isinstance(getattr(trainer.model, "bleu", None), SacreBleu):
            raise ConfigurationError(
                "the callback bleu_signature needs a model that measures BLEU, as encoder_decoder "
                f"does, got {type(trainer.model).__name__}"
            )

    def on_end(
        self,
        trainer: GradientDescentTrainer,
        metrics: Optional[dict[str, Any]] = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Add the signature to the metrics that the trainer returns."""
        bleu: Any = trainer.model.bleu
        if metrics is not None:  # the metrics are None after an error
            metrics["BLEU_signature"] = bleu.signature


@Metric.register("answer_overlap")
class AnswerOverlap(Metric):
    """Compares predicted and reference answers of free text, by figures from 0 to 100.

    - `bleu_1`, `bleu_4`: corpus-level BLEU with n-grams of one and of up to four words, in lower
      case, by `sacrebleu` (tokenization 13a, exponential smoothing).
    - `rouge_l`: ROUGE-L F1, by `rouge_score` without stemming, on letters and digits of every
      script, in lower case.
    - `meteor`: METEOR with the parameters of
      [Lavie and Agarwal (2007)](https://aclanthology.org/W07-0734), by `nltk`, on the same
      words. Words match exactly or by Porter's stem, not as synonyms, which need WordNet's data. An
      answer of one word scores at most 50.
    - `exact_match`, `f1`: as in the evaluation script of SQuAD 1.1 ([Rajpurkar et al.
      2016](https://aclanthology.org/D16-1264), section 6), by `transformers`.

    All figures except BLEU are means over the questions; the best reference counts for each figure.
    Sums and counts are added up over batches and workers.

    Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces between words: all figures count
    their characters as words. `sacrebleu` and `rouge_score` are the extra `reading-comprehension`;
    without it, the first use raises a `ConfigurationError`.
    """

    def __init__(self) -> None:
        self._stemmer = PorterStemmer()
        self.reset()

    @cached_property
    def _libraries(self) -> Any:
        """The libraries, loaded on first use: predictions do not need them."""
        try:
            from rouge_score.rouge_scorer import RougeScorer
            from sacrebleu import BLEU
            from transformers.data.metrics import squad_metrics
        except ImportError as error:
            raise ConfigurationError(
                "the metric answer_overlap needs the extra [reading-comprehension]: pip install "
                f"sacrebleu rouge-score ({error})"
            ) from error
        return SimpleNamespace(
            bleu=BLEU(lowercase=True, tokenize="13a", force=True, max_ngram_order=MAX_ORDER),
            # The library's own tokenizer drops all letters except a to z.
            rouge=RougeScorer(["rougeL"], tokenizer=SimpleNamespace(tokenize=_words)),
            squad=squad_metrics,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the libraries, which cannot be copied or pickled."""
        return {name: value for name, value in vars(self).items() if name != "_libraries"}

    def load_libraries(self) -> None:
        """Load the libraries, so that errors occur before the first epoch."""
        self._libraries  # noqa: B018  (cached)

    def __call__(  # type: ignore[override]
        self, predictions: Sequence[str], references: Sequence[Sequence[str]]
    ) -> None:
        """Score further answers, possibly empty, each against at least one right answer."""
        if len(predictions) != len(references):
            raise ConfigurationError(
                f"{len(predictions)} predictions, but references for {len(references)}"
            )
        for prediction, answers in zip(predictions, references):
            self._add(prediction, answers)

    def _add(self, prediction: str, answers: Sequence[str]) -> None:
        if not answers:
            raise ConfigurationError(f"there is no reference for the prediction {prediction!r}")
        texts = [unicodedata.normalize("NFC", text) for text in (prediction, *answers)]
        prediction, *answers = (UNSPACED.sub(r" \g<0> ", text) for text in texts)
        bleu = self._libraries.bleu.corpus_score([prediction], [[answer] for answer in answers])
        self._bleu_counts.add(bleu)
        squad = self._libraries.squad
        words = _words(prediction)
        libraries = {"stemmer": self._stemmer, "wordnet": _NoSynonyms()}
        scores = {
            "rouge_l": self._libraries.rouge.score_multi(answers, prediction)["rougeL"].fmeasure,
            "meteor": max(single_meteor_score(_words(x), words, **libraries) for x in answers),
            # No spaces around characters: they would turn the A in "A型" into an article.
            "exact_match": max(squad.compute_exact(answer, texts[0]) for answer in texts[1:]),
            # SQuAD 2.0, which the library follows, gives two empty answers an F1 of 1.
            "f1": max(squad.compute_f1(answer, prediction) for answer in answers)
            if squad.normalize_answer(prediction)
            else 0.0,
        }
        for name, score in scores.items():
            self._sums[name] += float(score)
        self._num_questions += 1

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Return the figures over all batches and workers; zeros if there was no question."""
        figures = {
            f"bleu_{order}": self._bleu_counts.figure(self._libraries.bleu, order)
            for order in (1, MAX_ORDER)
        }
        num_questions = max(dist_reduce_sum(self._num_questions), 1)
        for name, total in self._sums.items():
            figures[name] = 100 * dist_reduce_sum(total) / num_questions
        if reset:
            self.reset()
        return figures

    def reset(self) -> None:
        """Forget all answers."""
        self._bleu_counts = _BleuCounts()
        self._sums = dict.fromkeys(("rouge_l", "meteor", "exact_match", "f1"), 0.0)
        self._num_questions = 0


class _NoSynonyms:
    """An empty WordNet, so that figures do not depend on whether its data are installed."""

    def synsets(self, word: str) -> list[str]:
        return []


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
        ngrams = self._ngrams
        num_tokens = self._num_tokens
        if is_distributed():
            # The workers' n-grams overlap, so the sets are combined, not their sizes.
            parts: list[Any] = [None] * distributed.get_world_size()
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
