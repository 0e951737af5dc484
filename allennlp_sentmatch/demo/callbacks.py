"""The functions of the page's buttons, which report errors as sentences."""

import logging
from collections.abc import Sequence
from typing import Any, Callable, Union

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.demo.demo_model import DemoModel, Prediction
from allennlp_sentmatch.demo.in_memory_search import InMemorySearch
from allennlp_sentmatch.demo.markup import figures, message, table
from allennlp_sentmatch.demo.tasks import Table
from allennlp_sentmatch.demo.text_input import InputError

logger = logging.getLogger(__name__)

SENTENCES_PER_LABEL = 5


def predictions(model: DemoModel, *columns: Sequence[str]) -> tuple[list[str], list[Any]]:
    """The predictions for the texts of several callers, in one batch.

    # Parameters

    model : `DemoModel`
    columns : `Sequence[str]`
        For each of the task's inputs, the texts of all callers.

    # Returns

    `tuple[list[str], list[Any]]`
        For each caller a message, and the labels' probabilities or a table. After an error, the
        message alone.
    """
    rows = list(zip(*columns))
    results: Sequence[Union[Prediction, Exception]]
    try:
        results = model.predict_batch(rows)
    except Exception:
        # One caller's text should not fail all of them.
        results = [_result_or_error(model, texts) for texts in rows]
    notes, shown = zip(*(_describe(model, result) for result in results))
    return list(notes), list(shown)


def drawings(model: DemoModel, *texts: str) -> str:
    """The pictures of a prediction; empty if a text is not accepted."""
    return _or_nothing(lambda: figures(model.draw(*texts)))


def explanation(model: DemoModel, method: str, *texts: str) -> str:
    """The saliency of the texts; empty if one of them is not accepted."""
    return _or_nothing(lambda: figures([model.explain(*texts, method=method)]))


def generated(model: DemoModel, source: str, sample: bool) -> str:
    """The sentences that the model generates for each label."""

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
        note = message(_note(search.unknown_words(query)))
        rows = [(f"{cosine:.3f}", sentence) for sentence, cosine in search.nearest(query)]
        return note + table("Nearest sentences", ["Cosine", "Sentence"], rows)

    return _or_sentence(show)


def _describe(model: DemoModel, result: Union[Prediction, Exception]) -> tuple[str, Any]:
    if isinstance(result, Exception):
        return _sentence(result), None if model.task.shows_probabilities else ""
    note = message(_note(result.unknown_words))
    answer = result.answer
    return note, table(*answer) if isinstance(answer, Table) else answer


def _note(unknown_words: list[str]) -> str:
    if not unknown_words:
        return ""
    words = ", ".join(f"“{word}”" for word in unknown_words)
    return f"Not in the model's vocabulary, and read as one unknown word: {words}."


def _result_or_error(model: DemoModel, texts: Sequence[str]) -> Union[Prediction, Exception]:
    try:
        return model.predict(*texts)
    except Exception as error:
        return error


def _or_nothing(show: Callable[[], str]) -> str:
    """The result, or nothing for texts that are not accepted: the prediction reports the reason."""
    try:
        return show()
    except InputError:
        return ""
    except Exception as error:
        return _sentence(error)


def _or_sentence(show: Callable[[], str]) -> str:
    try:
        return show()
    except Exception as error:
        return _sentence(error)


def _sentence(error: Exception) -> str:
    """The error for the person at the page. An unexpected one is logged as well."""
    if isinstance(error, InputError):
        return message(str(error), is_error=True)
    logger.error("the demo could not answer", exc_info=error)
    if isinstance(error, ConfigurationError):
        return message(str(error.message), is_error=True)
    return message("Sorry, the model failed on this input; the server's log says why.", True)
