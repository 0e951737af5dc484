"""Pictures as text."""

import sys

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.inspection import Drawing, draw_attention, draw_tree


@pytest.mark.parametrize(
    ("title", "media_type", "file_name"),
    [
        ("Tree of the premise", "image/svg+xml", "tree_of_the_premise.svg"),
        ("Saliency (simple gradients)", "text/html", "saliency_simple_gradients.html"),
        ("../x/Y", "image/svg+xml", "x_y.svg"),
    ],
)
def test_the_file_name_comes_from_the_title(title, media_type, file_name):
    assert Drawing(title, "", media_type).file_name == file_name


@pytest.mark.parametrize(
    ("library", "draw"),
    [
        ("seaborn", lambda: draw_attention("Attention", [[1.0]], ["a"], ["b"])),
        ("svgling", lambda: draw_tree("Tree", "(a b)")),
    ],
)
def test_without_the_libraries_the_extra_is_named(monkeypatch, library, draw):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ConfigurationError, match=r"the extra \[plots\]: pip install"):
        draw()
