"""The overlap of answers in free words with right ones."""

import unicodedata
from collections.abc import Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import regex
from allennlp.common.checks import ConfigurationError
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score

from allennlp_sentmatch.data.text import UNSPACED
from allennlp_sentmatch.training.metrics.bleu import MAX_ORDER, BleuCounts


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
    raise `ConfigurationError` at first use without it.
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
        """Score further answers, possibly empty, each against at least one right answer.

        Raise `ConfigurationError` if an answer has no reference.
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
        libraries = self._libraries
        prediction = unicodedata.normalize("NFC", prediction)
        answers = [unicodedata.normalize("NFC", answer) for answer in answers]
        split_prediction = _split_characters(prediction)
        split_answers = [_split_characters(answer) for answer in answers]
        bleu = libraries.bleu.corpus_score([split_prediction], [[one] for one in split_answers])
        self._bleu_counts.add(bleu)
        rouge = libraries.rouge.score_multi(split_answers, split_prediction)
        squad = libraries.squad
        scores = {
            "rouge_l": rouge["rougeL"].fmeasure,
            "meteor": max(self._meteor(split_prediction, answer) for answer in split_answers),
            # No spaces around characters: they would turn the A in "A型" into an article.
            "exact_match": max(squad.compute_exact(answer, prediction) for answer in answers),
            "f1": 0.0,
        }
        # SQuAD 2.0, which the library follows, gives two empty answers an F1 of 1.
        if squad.normalize_answer(split_prediction):
            scores["f1"] = max(squad.compute_f1(x, split_prediction) for x in split_answers)
        for name, score in scores.items():
            self._sums[name] += float(score)
        self._num_questions += 1

    def _meteor(self, prediction: str, answer: str) -> float:
        """Return METEOR, from 0 to 1, of texts in which unspaced characters have been split."""
        score = single_meteor_score(
            _words(answer), _words(prediction), stemmer=self._stemmer, wordnet=_NoSynonyms()
        )
        return float(score)

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
        self._bleu_counts = BleuCounts()
        self._sums = dict.fromkeys(("rouge_l", "meteor", "exact_match", "f1"), 0.0)
        self._num_questions = 0


class _NoSynonyms:
    """An empty WordNet, so that figures do not depend on whether its data are installed."""

    def synsets(self, word: str) -> list[str]:
        return []


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters, marks and digits of any script."""
    words: list[str] = regex.findall(r"[\p{L}\p{M}\p{Nd}]+", text.lower())
    return words


def _split_characters(text: str) -> str:
    """Put spaces around the characters of scripts that have no spaces between words."""
    return str(UNSPACED.sub(r" \g<0> ", text))
