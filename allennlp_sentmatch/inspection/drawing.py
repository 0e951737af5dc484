"""A picture as text, and the libraries that draw it."""

import importlib
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allennlp.common.checks import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Drawing:
    """A picture that needs nothing from elsewhere.

    # Parameters

    title : `str`
        What it shows, in a few words.
    svg : `str`
        An SVG image on a white ground; or, of colored text, a piece of HTML that takes its
        text color from the page.
    """

    title: str
    svg: str

    @property
    def file_name(self) -> str:
        """A file name after the title, such as "tree_of_the_premise.svg"."""
        ending = "svg" if self.svg.lstrip().startswith(("<svg", "<?xml")) else "html"
        return re.sub(r"\W+", "_", self.title.lower()).strip("_") + "." + ending


def import_plots(name: str) -> Any:
    """Import a module of the libraries that draw.

    # Raises

    `ConfigurationError` where the extra is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigurationError(
            f"drawing needs the extra [plots]: pip install matplotlib seaborn svgling ({error})"
        ) from error


def new_figure(width: float, height: float) -> "Figure":
    """A figure of this many inches, outside of pyplot, which would keep it and want a display."""
    figure: Figure = import_plots("matplotlib.figure").Figure((width, height), layout="constrained")
    return figure


def figure_drawing(title: str, figure: "Figure") -> Drawing:
    """The SVG of a figure, whose words stay words that can be searched and read out."""
    matplotlib = import_plots("matplotlib")
    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Title": title})
    svg = file.getvalue()
    return Drawing(title, svg[svg.index("<svg") :])
