"""Pictures as text, and the libraries that draw them."""

import importlib
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allennlp.common.checks import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SVG = "image/svg+xml"
HTML = "text/html"
EXTENSIONS = {SVG: ".svg", HTML: ".html"}


@dataclass(frozen=True)
class Drawing:
    """A picture that refers to no other file.

    # Parameters

    title : `str`
    content : `str`
        An SVG image on a white background; or an HTML fragment of colored text, which takes its
        text color from the page.
    media_type : `str`, optional (default = `"image/svg+xml"`)
        "image/svg+xml" or "text/html".
    """

    title: str
    content: str
    media_type: str = SVG

    @property
    def file_name(self) -> str:
        """A file name from the title, such as "tree_of_the_premise.svg"."""
        return re.sub(r"\W+", "_", self.title.lower()).strip("_") + EXTENSIONS[self.media_type]


def import_plots(name: str) -> Any:
    """Import a module of one of the drawing libraries.

    # Raises

    `ConfigurationError` if the extra [plots] is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigurationError(
            f"drawing needs the extra [plots]: pip install matplotlib seaborn svgling ({error})"
        ) from error


def new_figure(width: float, height: float) -> "Figure":
    """Create a figure; sizes are in inches. Unlike pyplot's, it needs no display and is freed."""
    figure: Figure = import_plots("matplotlib.figure").Figure((width, height), layout="constrained")
    return figure


def figure_drawing(title: str, figure: "Figure") -> Drawing:
    """Convert a figure to SVG. Its words remain text, for searching and for screen readers."""
    matplotlib = import_plots("matplotlib")
    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Title": title})
    svg = file.getvalue()
    return Drawing(title, svg[svg.index("<svg") :])
