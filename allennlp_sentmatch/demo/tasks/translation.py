"""Translations."""

from collections.abc import Sequence

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo.tasks.example_texts import CAPTIONS, GERMAN_CAPTIONS
from allennlp_sentmatch.demo.tasks.task import Answer, Example, Table, Task
from allennlp_sentmatch.demo.text_input import TextInput
from allennlp_sentmatch.predictors import TranslationPredictor

MAX_TRANSLATIONS = 5


class Translation(Task):
    """Translates a sentence."""

    title = "Translation"
    verb = "Translate"
    inputs = [TextInput("source", "Sentence", noun="sentence", field="source_tokens")]

    @classmethod
    def accepts(cls, predictor: Predictor) -> bool:
        """Whether it translates."""
        return isinstance(predictor, TranslationPredictor)

    def examples(self) -> Sequence[Example]:
        """Sentences in the source language, or in English and German if it is not known."""
        by_language = {
            "de": GERMAN_CAPTIONS,
            "en": list(dict.fromkeys((first,) for first, _ in CAPTIONS)),
        }
        tokenizer = getattr(self._predictor._dataset_reader, "_source_tokenizer", None)
        language = getattr(tokenizer, "language", None)
        return by_language.get(str(language), [*by_language["de"], *by_language["en"]])

    def answer(self, output: JsonDict) -> Answer:
        """The best translations with their scores."""
        scores: dict[str, float] = {}  # several lists of tokens may be the same text
        for beam in output["n_best"]:
            scores.setdefault(beam["target"], beam["score"])
        rows = [(f"{score:.2f}", target) for target, score in scores.items()]
        return Table(
            "Translations, the best first", ("Score", "Translation"), rows[:MAX_TRANSLATIONS]
        )
