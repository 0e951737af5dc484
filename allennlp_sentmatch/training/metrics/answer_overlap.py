"""BLEU, ROUGE-L, METEOR, exact match and F1 of predicted answers.

Exact match and F1 follow the evaluation script of SQuAD 1.1
([Rajpurkar et al. 2016](https://aclanthology.org/D16-1264), section 6): neither case nor
punctuation nor the articles a, an and the count.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score

from allennlp_sentmatch.training.metrics.sacre_bleu import MAX_ORDER, bleu_of_counts

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


@Metric.register("answer_overlap")
class AnswerOverlap(Metric):
    """Compares predicted answers with reference answers in free words; all figures are from 0 to
    100.

    - `bleu_1`, `bleu_4`: corpus-level BLEU with n-grams of one and of up to four words, in lower
      case, by `sacrebleu` (tokenization 13a, exponential smoothing). An n-gram counts as often as
      in the reference that has it most often, and the reference closest in length counts for the
      brevity penalty.
    - `rouge_l`: ROUGE-L F1, by `rouge_score` without stemming.
    - `meteor`: METEOR with the parameters of
      [Lavie and Agarwal (2007)](https://aclanthology.org/W07-0734), by `nltk`, on the words of
      `rouge_score` (lower case, no punctuation). Words match exactly or by Porter's stem; synonyms,
      which need WordNet's data, do not count. An answer of one word scores at most 50.
    - `exact_match`, `f1`: as in SQuAD 1.1's evaluation script.

    All but BLEU are means over the questions; the best reference counts for each figure. Every
    answer is scored once, when it is added: `get_metric` only divides. Sums and counts are added up
    over batches and workers.

    `sacrebleu` and `rouge_score` are the extra `reading-comprehension`. `rouge_score` knows no
    other letters than a to z.

    # Raises

    `ConfigurationError` where the metric is first used, if the extra is not installed.
    """

    def __init__(self) -> None:
        self._bleu_counts: list[int]
        self._sums: dict[str, float]
        self._num_questions: int
        self._stemmer = PorterStemmer()
        self.reset()

    @cached_property
    def _libraries(self) -> "_Libraries":
        """Loaded with the first use: predicting needs none."""
        try:
            from rouge_score.rouge_scorer import RougeScorer
            from rouge_score.tokenizers import DefaultTokenizer
            from sacrebleu import BLEU
        except ImportError as error:
            raise ConfigurationError(
                "the metric answer_overlap needs the extra [reading-comprehension]: pip install "
                f"sacrebleu rouge-score ({error})"
            ) from error
        tokenizer = DefaultTokenizer()
        return _Libraries(
            BLEU(lowercase=True, tokenize="13a", force=True, max_ngram_order=MAX_ORDER),
            tokenizer,
            RougeScorer(["rougeL"], tokenizer=tokenizer),
        )

    def load_libraries(self) -> None:
        """Load the libraries, to raise an error before the first epoch and not after it."""
        self._libraries  # noqa: B018  (cached)

    def __call__(  # type: ignore[override]
        self, predictions: Sequence[str], references: Sequence[Sequence[str]]
    ) -> None:
        """Score some more answers.

        # Parameters

        predictions : `Sequence[str]`
            A predicted answer for each question; it may be empty.
        references : `Sequence[Sequence[str]]`
            At least one right answer for each question.
        """
        if len(predictions) != len(references):
            raise ConfigurationError(
                f"{len(predictions)} predictions, but references for {len(references)}"
            )
        for prediction, answers in zip(predictions, references):
            self._add(prediction, answers)

    def _add(self, prediction: str, answers: Sequence[str]) -> None:
        if not answers:
            raise ConfigurationError(f"there is no reference for the prediction {prediction!r}")
        bleu = self._libraries.bleu.corpus_score([prediction], [[answer] for answer in answers])
        counts = [*bleu.counts, *bleu.totals, bleu.sys_len, bleu.ref_len]
        self._bleu_counts = [total + count for total, count in zip(self._bleu_counts, counts)]
        words = self._libraries.tokenizer.tokenize(prediction)
        scores = {
            "rouge_l": self._libraries.rouge.score_multi(answers, prediction)["rougeL"].fmeasure,
            "meteor": max(self._meteor(words, answer) for answer in answers),
            "exact_match": max(squad_exact_match(prediction, answer) for answer in answers),
            "f1": max(squad_f1(prediction, answer) for answer in answers),
        }
        for name, score in scores.items():
            self._sums[name] += float(score)
        self._num_questions += 1

    def _meteor(self, words: list[str], answer: str) -> float:
        reference = self._libraries.tokenizer.tokenize(answer)
        return float(
            single_meteor_score(reference, words, stemmer=self._stemmer, wordnet=_NoSynonyms())
        )

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """The figures over all batches and workers; zeros where there was no question."""
        bleu_counts = [int(dist_reduce_sum(count)) for count in self._bleu_counts]
        sums = {name: dist_reduce_sum(total) for name, total in self._sums.items()}
        num_questions = dist_reduce_sum(self._num_questions)
        if reset:
            self.reset()
        means = {name: 100 * total / max(num_questions, 1) for name, total in sums.items()}
        return {
            "bleu_1": bleu_of_counts(self._libraries.bleu, bleu_counts, 1),
            "bleu_4": bleu_of_counts(self._libraries.bleu, bleu_counts, 4),
            **means,
        }

    def reset(self) -> None:
        """Forget all answers."""
        self._bleu_counts = [0] * (2 * MAX_ORDER + 2)
        self._sums = dict.fromkeys(("rouge_l", "meteor", "exact_match", "f1"), 0.0)
        self._num_questions = 0


class _Libraries(NamedTuple):
    bleu: Any
    tokenizer: Any
    rouge: Any


class _NoSynonyms:
    """A WordNet without words, so that figures do not depend on whether its data is there."""

    def synsets(self, word: str) -> list[str]:
        return []


def squad_words(answer: str) -> list[str]:
    """The words of an answer that count: lower-cased, without punctuation and articles."""
    return _ARTICLES.sub(" ", answer.lower().translate(_WITHOUT_PUNCTUATION)).split()


def squad_exact_match(prediction: str, reference: str) -> float:
    """1 if the words of two answers are the same, in the same order; otherwise 0."""
    return float(squad_words(prediction) == squad_words(reference))


def squad_f1(prediction: str, reference: str) -> float:
    """The harmonic mean of precision and recall of the predicted answer's words, from 0 to 1."""
    predicted, expected = Counter(squad_words(prediction)), Counter(squad_words(reference))
    shared = sum((predicted & expected).values())
    return 2 * shared / (sum(predicted.values()) + sum(expected.values())) if shared else 0.0
