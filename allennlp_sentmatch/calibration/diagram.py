"""Reliability diagrams (Niculescu-Mizil and Caruana 2005; Guo et al. 2017, figure 1)."""

from collections.abc import Mapping

from allennlp_sentmatch.calibration.reliability import Reliability
from allennlp_sentmatch.inspection.drawing import Drawing, figure_drawing, new_figure


def draw_reliability(title: str, panels: Mapping[str, Reliability]) -> Drawing:
    """Draw the accuracy in each bin of confidence, and below it how many examples are in the bin.

    # Parameters

    title : `str`
    panels : `Mapping[str, Reliability]`
        The measures of each column, by its caption.

    # Returns

    `Drawing`
        Each bin's bar is as high as its accuracy; a line has its mean confidence. With perfect
        calibration, they meet.
    """
    figure = new_figure(3.6 * len(panels), 4.4)
    all_axes = figure.subplots(
        2,
        len(panels),
        squeeze=False,
        sharex=True,
        sharey="row",
        gridspec_kw={"height_ratios": (3, 1)},
    )
    for column, (caption, reliability) in enumerate(panels.items()):
        accuracy_axes, share_axes = all_axes[:, column]
        bins = [bin for bin in reliability.bins if bin.count]
        total = sum(bin.count for bin in bins)
        lowers = [bin.lower for bin in bins]
        width = {"width": [bin.upper - bin.lower for bin in bins], "align": "edge"}
        accuracy_axes.plot((0, 1), (0, 1), color="gray", linestyle="--", linewidth=1)
        accuracy_axes.bar(
            lowers, [bin.accuracy for bin in bins], label="accuracy", edgecolor="white", **width
        )
        confidences = [bin.confidence for bin in bins]
        accuracy_axes.plot(
            confidences, confidences, "o", color="darkorange", markersize=4, label="confidence"
        )
        error = reliability.expected_calibration_error
        accuracy_axes.set_title(f"{caption}: ECE {100 * error:.1f} %", fontsize="medium")
        accuracy_axes.set(xlim=(0, 1), ylim=(0, 1))
        share_axes.bar(lowers, [bin.count / total for bin in bins], edgecolor="white", **width)
        share_axes.set(xlabel="probability of the predicted label")
    all_axes[0, 0].set_ylabel("accuracy")
    all_axes[0, 0].legend(loc="upper left", fontsize="small")
    all_axes[1, 0].set_ylabel("share")
    return figure_drawing(title, figure)
