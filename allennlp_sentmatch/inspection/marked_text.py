"""Texts with colored words and a marked part."""

from html import escape

from allennlp_sentmatch.inspection.drawing import HTML, Drawing
from allennlp_sentmatch.inspection.saliency import COLOR, MAX_OPACITY
from allennlp_sentmatch.predictors.marked_text import MarkedText

_MARK = "background:none;color:inherit;font-weight:bold;border-bottom:2px solid"


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
        opacity = MAX_OPACITY * weight / strongest
        parts.append(
            f'<span style="background:{COLOR.format(opacity=opacity)};border-radius:0.2em" '
            f'title="{weight:.3f}">{_plain(marked.text[start:end])}</span>'
        )
        if token == last:
            parts.append("</mark>")
        previous_end = end
    parts.append(_plain(marked.text[previous_end:]))
    return Drawing(marked.title, f'<p style="line-height:1.8">{"".join(parts)}</p>', HTML)


def _plain(text: str) -> str:
    return escape(text).replace("\n", "<br>")
