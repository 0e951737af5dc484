"""Heat maps of attention, drawn by seaborn."""

from collections.abc import Sequence

from allennlp_sentmatch.inspection.drawing import Drawing, figure_drawing, import_plots, new_figure

INCHES_PER_CELL = 0.42
INCHES_PER_CHARACTER = 0.09
MAX_LABEL_LENGTH = 40
#: A larger matrix becomes one image: drawn cell by cell it would take seconds and megabytes.
MAX_DRAWN_CELLS = 900


def draw_attention(
    title: str,
    weights: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
) -> Drawing:
    """Draw a matrix of attention.

    # Parameters

    title : `str`
    weights : `Sequence[Sequence[float]]`
        A row for each of `rows`, with a weight for each of `columns`.
    rows, columns : `Sequence[str]`
        The words along the axes.

    # Returns

    `Drawing`
    """
    row_labels, column_labels = ([_shortened(word) for word in words] for words in (rows, columns))
    left, bottom = (
        INCHES_PER_CHARACTER * max(map(len, labels), default=0)
        for labels in (row_labels, column_labels)
    )
    figure = new_figure(
        2 + left + INCHES_PER_CELL * len(columns), 1 + bottom + INCHES_PER_CELL * len(rows)
    )
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
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)  # a word may hold dollar signs
    axes.tick_params("x", rotation=90)
    axes.tick_params("y", rotation=0)
    return figure_drawing(title, figure)


def _shortened(word: str) -> str:
    return word if len(word) <= MAX_LABEL_LENGTH else word[: MAX_LABEL_LENGTH - 1] + "…"
