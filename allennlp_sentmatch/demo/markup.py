"""HTML fragments. All text in them is escaped here."""

import base64
from collections.abc import Iterable, Sequence
from html import escape

from allennlp_sentmatch.inspection import SVG, Drawing


def heading(title: str, description: str) -> str:
    """The page's title and a line below it."""
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
