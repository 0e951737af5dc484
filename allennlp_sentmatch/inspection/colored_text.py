"""Words on background colors for their weights."""

from html import escape
from typing import Any

from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection.drawing import HTML, Drawing
from allennlp_sentmatch.inspection.saliency import Saliency, interpret
from allennlp_sentmatch.predictors.echoing_predictor import MarkedText

# Over white and over near-black, text in the page's own color stays readable on it.
COLOR = "rgba(255, 140, 0, {opacity:.2f})"
MAX_OPACITY = 0.6

_MARK = "background:none;color:inherit;font-weight:bold;border-bottom:2px solid"


def draw_saliency(predictor: Predictor, inputs: dict[str, Any], method: str = "simple") -> Drawing:
    """Draw the texts of one input, each word colored by its share of the saliency.

    Parameters and errors are those of `interpret`.
    """
    return color_words(f"Saliency ({method} gradients)", interpret(predictor, inputs, method))


def color_words(title: str, texts: list[Saliency]) -> Drawing:
    """Draw the words of each text on a background color for their saliency."""
    lines = []
    for saliency in texts:
        strongest = max(saliency.values, default=0.0) or 1.0
        words = " ".join(
            _colored(escape(token), value, strongest, "padding:0.1em 0.2em")
            for token, value in zip(saliency.tokens, saliency.values)
        )
        lines.append(f'<p style="line-height:1.8"><b>{escape(saliency.text)}:</b> {words}</p>')
    return Drawing(title, "\n".join(lines), HTML)


def draw_marked_text(marked: MarkedText) -> Drawing:
    """Draw a text as it was written, each token on a background color for its weight; the marked
    span is bold and underlined.
    """
    strongest = max(marked.weights, default=0.0) or 1.0
    first, last = marked.span
    parts = []
    previous_end = 0
    for token, ((start, end), weight) in enumerate(zip(marked.offsets, marked.weights)):
        parts.append(_plain(marked.text[previous_end:start]))
        if token == first:
            parts.append(f'<mark style="{_MARK}">')
        parts.append(_colored(_plain(marked.text[start:end]), weight, strongest))
        if token == last:
            parts.append("</mark>")
        previous_end = end
    parts.append(_plain(marked.text[previous_end:]))
    return Drawing(marked.title, f'<p style="line-height:1.8">{"".join(parts)}</p>', HTML)


def _plain(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _colored(html: str, weight: float, strongest: float, style: str = "") -> str:
    color = COLOR.format(opacity=MAX_OPACITY * weight / strongest)
    return (
        f'<span style="background:{color};border-radius:0.2em;{style}" '
        f'title="{weight:.3f}">{html}</span>'
    )
