"""Pictures as text: attention (by seaborn), trees (by svgling) and colored words."""

import importlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from allennlp_sentmatch.errors import ConfigurationError
from allennlp_sentmatch.predictors.echoing_predictor import MarkedText

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SVG = "image/svg+xml"
HTML = "text/html"
EXTENSIONS = {SVG: ".svg", HTML: ".html"}

INCHES_PER_CELL = 0.42
INCHES_PER_CHARACTER = 0.09
MAX_LABEL_LENGTH = 40
#: A larger matrix becomes one image: drawn cell by cell it would take seconds and megabytes.
MAX_DRAWN_CELLS = 900

# Text in the page's own color stays readable on these colors, over white and near-black.
COLOR = "rgba(255, 140, 0, {opacity:.2f})"
MAX_OPACITY = 0.6

_MARK = "background:none;color:inherit;font-weight:bold;border-bottom:2px solid"


@dataclass(frozen=True)
class Drawing:
    """A self-contained picture.

    # Attributes

    title : `str`
    content : `str`
        An SVG image on white, or an HTML fragment in the page's text color.
    media_type : `str`
        "image/svg+xml" or "text/html".
    """

    title: str
    content: str
    media_type: str = SVG

    @property
    def file_name(self) -> str:
        """A file name from the title, such as "tree_of_the_premise.svg"."""
        words = re.sub(r"\W+", "_", self.title.lower())
        return words.strip("_") + EXTENSIONS[self.media_type]


def import_plots(name: str) -> Any:
    """Return a module of a drawing library.

    Raise `ConfigurationError`, which says how to install it, if it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigurationError(
            f"drawing needs the extra [plots]: pip install matplotlib seaborn svgling ({error})"
        ) from error


def new_figure(width: float, height: float) -> "Figure":
    """Create a figure; sizes are in inches.

    Unlike pyplot's figures, it needs no display and is freed.
    """
    matplotlib_figure = import_plots("matplotlib.figure")
    figure: Figure = matplotlib_figure.Figure((width, height), layout="constrained")
    return figure


def figure_drawing(title: str, figure: "Figure") -> Drawing:
    """Convert a figure to SVG. Its words remain text, for searching and for screen readers."""
    matplotlib = import_plots("matplotlib")
    settings = {"svg.fonttype": "none", "font.family": "sans-serif"}
    file = io.StringIO()
    with matplotlib.rc_context(settings):
        figure.savefig(file, format="svg", metadata={"Date": None, "Title": title})
    svg = file.getvalue()
    return Drawing(title, svg[svg.index("<svg") :])


def draw_attention(
    title: str,
    weights: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
) -> Drawing:
    """Draw a matrix of attention as a heat map; `AttentionMap` describes the arguments.

    Words of more than `MAX_LABEL_LENGTH` characters are shortened. Raise `ConfigurationError`
    without the extra [plots].
    """
    row_labels = [_shortened(word) for word in rows]
    column_labels = [_shortened(word) for word in columns]
    longest_row = max(map(len, row_labels), default=0)
    longest_column = max(map(len, column_labels), default=0)
    width = 2 + INCHES_PER_CHARACTER * longest_row + INCHES_PER_CELL * len(columns)
    height = 1 + INCHES_PER_CHARACTER * longest_column + INCHES_PER_CELL * len(rows)
    figure = new_figure(width, height)
    axes = figure.subplots()
    import_plots("seaborn").heatmap(
        [list(row) for row in weights],
        ax=axes,
        vmin=0,
        cmap="Blues",
        square=True,
        linewidths=0.5,
        rasterized=len(rows) * len(columns) > MAX_DRAWN_CELLS,
        xticklabels=column_labels,
        yticklabels=row_labels,
        cbar_kws={"label": "weight"},
    )
    for label in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        label.set_parse_math(False)  # words may contain dollar signs
    axes.tick_params("x", rotation=90)
    axes.tick_params("y", rotation=0)
    return figure_drawing(title, figure)


def _shortened(word: str) -> str:
    if len(word) <= MAX_LABEL_LENGTH:
        return word
    return word[: MAX_LABEL_LENGTH - 1] + "…"


def draw_tree(title: str, tree: str) -> Drawing:
    """Draw a tree of nested parentheses such as "((the cat) (sat down))" (thesis, figure 3.4)."""
    return _tree_drawing(title, _layout(tree).get_svg())


def draw_trees(title: str, trees: Mapping[str, str]) -> Drawing:
    """Draw the trees that several models built over one sentence, by captions, side by side."""
    figure = import_plots("svgling.figure")
    captioned = [figure.Caption(_layout(tree), name) for name, tree in trees.items()]
    return _tree_drawing(title, figure.SideBySide(*captioned).get_svg())


def _layout(tree: str) -> Any:
    """Return svgling's layout of a tree of nested parentheses."""
    # nltk's reader would take a backslash before a parenthesis for an escape.
    open_nodes: list[list[Any]] = [["•"]]  # each node: its label, then its parts
    for part in re.findall(r"[()]|[^ ()]+", tree):
        if part == "(":
            open_nodes.append(["•"])
        else:
            closed = open_nodes.pop() if part == ")" else part
            open_nodes[-1].append(closed)
    (root,) = open_nodes
    whole = root[1] if tree.startswith("(") else root
    return import_plots("svgling").draw_tree(whole)


def _tree_drawing(title: str, image: Any) -> Drawing:
    """Return one of svgling's images on white."""
    background = image.rect(size=("100%", "100%"), fill="white")
    image.elements.insert(1, background)  # after its CSS
    image.set_desc(title=title)
    return Drawing(title, image.tostring())


def draw_marked_text(marked: MarkedText) -> Drawing:
    """Draw a text with each token's weight as its background.

    The marked span is bold and underlined.
    """
    text = marked.text
    first, last = marked.span
    tokens = [_plain(text[start:end]) for start, end in marked.offsets]
    parts = colored(tokens, marked.weights)
    parts[first] = f'<mark style="{_MARK}">{parts[first]}'
    parts[last] += "</mark>"
    html = ""
    previous_end = 0
    for (start, end), part in zip(marked.offsets, parts):
        html += _plain(text[previous_end:start]) + part
        previous_end = end
    html += _plain(text[previous_end:])
    return Drawing(marked.title, f'<p style="line-height:1.8">{html}</p>', HTML)


def _plain(text: str) -> str:
    """Return a text as HTML."""
    return escape(text).replace("\n", "<br>")


def colored(parts: Iterable[str], weights: Sequence[float], style: str = "") -> list[str]:
    """Return parts of HTML, each with a background color for its weight.

    The largest weight has the opacity `MAX_OPACITY`, and 0 none. `style` is further CSS.
    """
    strongest = max(weights, default=0.0) or 1.0
    spans = []
    for html, weight in zip(parts, weights):
        color = COLOR.format(opacity=MAX_OPACITY * weight / strongest)
        css = f"background:{color};border-radius:0.2em;{style}"
        spans.append(f'<span style="{css}" title="{weight:.3f}">{html}</span>')
    return spans
