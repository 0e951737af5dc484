"""The functions of the page's buttons, which report errors as sentences, and its HTML fragments."""

import base64
import logging
from collections.abc import Iterable, Sequence
from functools import wraps
from html import escape
from typing import Any, Callable, Union

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.demo.demo_model import DemoModel, InMemorySearch, Prediction
from allennlp_sentmatch.demo.tasks import InputError, Table
from allennlp_sentmatch.encoding.sentence_search import note_of_unknown
from allennlp_sentmatch.inspection import SVG, Drawing
from allennlp_sentmatch.serving.batcher import predict_each

logger = logging.getLogger(__name__)

SENTENCES_PER_LABEL = 5


def predictions(model: DemoModel, *columns: Sequence[str]) -> tuple[list[str], list[Any]]:
    """The predictions for the texts of several callers, in one batch: a column for each input.

    Each caller gets a message, and the labels' probabilities or a table; after an error, the
    message alone.
    """
    results = predict_each(model.predict_batch, list(zip(*columns)))
    notes, shown = zip(*(_describe(model, result) for result in results))
    return list(notes), list(shown)


def _reports_errors(function: Callable[..., str]) -> Callable[..., str]:
    @wraps(function)
    def reporting(*arguments: Any) -> str:
        try:
            return function(*arguments)
        except Exception as error:
            return _sentence(error)

    return reporting


@_reports_errors
def drawings(model: DemoModel, *texts: str) -> str:
    """The pictures of a prediction; empty if a text is not accepted: the prediction says why."""
    try:
        return figures(model.draw(*texts))
    except InputError:
        return ""


@_reports_errors
def explanation(model: DemoModel, method: str, *texts: str) -> str:
    """The saliency of the texts; empty if one of them is not accepted."""
    try:
        return figures([model.explain(*texts, method=method)])
    except InputError:
        return ""


@_reports_errors
def generated(model: DemoModel, source: str, sample: bool) -> str:
    """The sentences that the model generates for each label."""
    rows = [
        (label, sentence)
        for label, sentences in model.generate(source, sample).items()
        for sentence in sentences[:SENTENCES_PER_LABEL]
    ]
    return table("Sentences for each label, the best first", ["Label", "Sentence"], rows)


@_reports_errors
def neighbors(search: InMemorySearch, query: str) -> str:
    """The sentences of the corpus that are nearest to a query."""
    note = _note(search.unknown_words(query))
    rows = [(f"{cosine:.3f}", sentence) for sentence, cosine in search.nearest(query)]
    return note + table("Nearest sentences", ["Cosine", "Sentence"], rows)


def _describe(model: DemoModel, result: Union[Prediction, Exception]) -> tuple[str, Any]:
    if isinstance(result, Exception):
        return _sentence(result), None if model.task.shows_probabilities else ""
    answer = result.answer
    shown = table(*answer) if isinstance(answer, Table) else answer
    return _note(result.unknown_words), shown


def _note(unknown_words: list[str]) -> str:
    return message(note_of_unknown(unknown_words)) if unknown_words else ""


def _sentence(error: Exception) -> str:
    """The error for the person at the page. An unexpected one is logged as well."""
    if isinstance(error, InputError):
        return message(str(error), is_error=True)
    logger.error("the demo could not answer", exc_info=error)
    if isinstance(error, ConfigurationError):
        return message(str(error.message), is_error=True)
    return message("Sorry, the model failed on this input; the server's log says why.", True)


def heading(title: str, description: str) -> str:
    """The page's title and a line below it; all text is escaped, as in the other fragments."""
    return f'<h1>{escape(title)}</h1><p class="subtitle">{escape(description)}</p>'


def message(text: str, is_error: bool = False) -> str:
    """A sentence that screen readers announce."""
    role, css_class = ("alert", "error") if is_error else ("status", "note")
    return f'<p role="{role}" class="{css_class}">{escape(text)}</p>' if text else ""


def figures(drawings: Iterable[Drawing]) -> str:
    """Drawings with their titles."""
    shown = "".join(
        f"<figure><figcaption>{escape(drawing.title)}</figcaption>{_picture(drawing)}</figure>"
        for drawing in drawings
    )
    return f'<div class="figures">{shown}</div>' if shown else ""


def _picture(drawing: Drawing) -> str:
    if drawing.media_type != SVG:
        return drawing.content
    # In an image, style sheets and identifiers do not affect the page, and no script runs.
    data = base64.b64encode(drawing.content.encode()).decode()
    source = f"data:image/svg+xml;base64,{data}"
    return f'<div class="picture"><img alt="{escape(drawing.title)}" src="{source}"></div>'


def table(caption: str, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a caption."""
    head = "".join(f'<th scope="col">{escape(header)}</th>' for header in headers)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
