"""What the page shows, as functions of what was typed. An error becomes a sentence."""

import logging
from collections.abc import Iterator
from typing import Any, Callable

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.demo.demo_model import DemoModel, InputError
from allennlp_sentmatch.demo.in_memory_search import InMemorySearch
from allennlp_sentmatch.demo.markup import figures, message, table

logger = logging.getLogger(__name__)

SENTENCES_PER_LABEL = 5


def answer(model: DemoModel, method: str, *texts: str) -> Iterator[tuple[str, Any, str, str]]:
    """The answer to what was typed, piece by piece, so that the label need not wait for the rest.

    # Parameters

    model : `DemoModel`
    method : `str`
        Of saliency: see `DemoModel.explain`.
    texts : `str`
        One for each of `model.inputs`.

    # Returns

    `Iterator[Tuple[str, Any, str, str]]`
        A message, the labels' probabilities (of a ranker, a table), the drawings and the saliency,
        the last two empty at first. After an error in what was typed, there is the message alone.
    """
    nothing = "" if model.is_ranker else None
    try:
        prediction = model.predict(*texts)
        note = message(_note(prediction.unknown_words))
        shown: Any = prediction.probabilities
        if model.is_ranker:
            rows = [(f"{score:.3f}", text) for text, score in prediction.ranking]
            shown = table("Answers, the best first", ["Score", "Answer"], rows)
        yield note, shown, "", ""
    except Exception as error:
        yield _sentence(error), nothing, "", ""
        return
    drawings = _or_sentence(lambda: figures(model.draw(*texts)))
    yield note, shown, drawings, ""
    if model.can_explain:
        yield note, shown, drawings, explanation(model, method, *texts)


def explanation(model: DemoModel, method: str, *texts: str) -> str:
    """The saliency of what was typed, by another method; nothing if nothing was typed."""
    if not any(texts):
        return ""
    return _or_sentence(lambda: figures([model.explain(*texts, method=method)]))


def generated(model: DemoModel, source: str, sample: bool) -> str:
    """Sentences that the model writes for each label."""

    def show() -> str:
        rows = [
            (label, sentence)
            for label, sentences in model.generate(source, sample).items()
            for sentence in sentences[:SENTENCES_PER_LABEL]
        ]
        return table("Sentences for each label, the best first", ["Label", "Sentence"], rows)

    return _or_sentence(show)


def neighbors(search: InMemorySearch, query: str) -> str:
    """The sentences of the corpus that are nearest to a query."""

    def show() -> str:
        rows = [(f"{cosine:.3f}", sentence) for sentence, cosine in search.nearest(query)]
        return table("Nearest sentences", ["Cosine", "Sentence"], rows)

    return _or_sentence(show)


def _note(unknown_words: list[str]) -> str:
    if not unknown_words:
        return ""
    words = ", ".join(f"“{word}”" for word in unknown_words)
    return f"Not in the model's vocabulary, and read as one unknown word: {words}."


def _or_sentence(show: Callable[[], str]) -> str:
    try:
        return show()
    except Exception as error:
        return _sentence(error)


def _sentence(error: Exception) -> str:
    """The error for the reader. What is not the reader's doing goes to the log as well."""
    if isinstance(error, InputError):
        return message(str(error), is_error=True)
    logger.error("the demo could not answer", exc_info=error)
    if isinstance(error, ConfigurationError):
        return message(str(error.message), is_error=True)
    return message("Sorry, the model failed on this input; the server's log says why.", True)
