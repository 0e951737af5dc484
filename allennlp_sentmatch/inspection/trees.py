"""Trees of a Gumbel Tree-LSTM, drawn by svgling (thesis, figure 3.4)."""

from collections.abc import Mapping
from typing import Any

from allennlp_sentmatch.inspection.drawing import Drawing, import_plots


def draw_tree(title: str, tree: str) -> Drawing:
    """Draw one tree.

    # Parameters

    title : `str`
    tree : `str`
        Nested parentheses such as "((the cat) (sat down))".

    # Returns

    `Drawing`
    """
    return _drawing(title, _layout(tree).get_svg())


def draw_trees(title: str, trees: Mapping[str, str]) -> Drawing:
    """Draw the trees that several models built over one sentence, side by side.

    # Parameters

    title : `str`
    trees : `Mapping[str, str]`
        The tree of each model, by its caption.

    # Returns

    `Drawing`
    """
    figure = import_plots("svgling.figure")
    captioned = (figure.Caption(_layout(tree), name) for name, tree in trees.items())
    return _drawing(title, figure.SideBySide(*captioned).get_svg())


def _layout(tree: str) -> Any:
    svgling, nltk = import_plots("svgling"), import_plots("nltk.tree")
    # The Penn Treebank's notation needs a label for each node.
    labeled = tree.replace("(", "(• ") if tree.startswith("(") else f"(• {tree})"
    return svgling.draw_tree(nltk.Tree.fromstring(labeled))


def _drawing(title: str, image: Any) -> Drawing:
    image.elements.insert(1, image.rect(size=("100%", "100%"), fill="white"))  # after its styles
    image.set_desc(title=title)
    return Drawing(title, image.tostring())
