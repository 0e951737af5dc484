"""Draw the learning curves of several training runs (thesis, figure 3.3).

    python -m scripts.results.plot_learning_curves docs/images/learning_curves.png \
        out/tree out/bilstm

The metric of each `metrics_epoch_*.json` in the folders, by epochs and by minutes of training.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from allennlp_sentmatch.tuning.report import minutes_of


def read_curve(run: Path, metric: str) -> tuple[list[int], list[float], list[float]]:
    """The epochs of a run, counted from 1, the minutes until the end of each, and its metric.

    # Raises

    `ValueError` for a folder without epochs, or epochs without the metric.
    """
    found = {int(p.stem.rpartition("_")[2]): p for p in run.glob("metrics_epoch_*.json")}
    epochs = [json.loads(path.read_text(encoding="utf-8")) for _, path in sorted(found.items())]
    if not epochs or any(metric not in epoch for epoch in epochs):
        raise ValueError(f"{run} has no metrics_epoch_*.json with {metric!r}")
    minutes = [minutes_of(epoch["training_duration"]) for epoch in epochs]
    return [n + 1 for n in sorted(found)], minutes, [epoch[metric] for epoch in epochs]


def learning_curves(runs: Sequence[Path], metric: str) -> Figure:
    """Draw the runs, each under the name of its folder."""
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    by_epoch, by_minutes = figure.subplots(1, 2, sharey=True)
    for run in runs:
        epochs, minutes, values = read_curve(run, metric)
        by_epoch.plot(epochs, values, "o-", label=run.name)
        by_minutes.plot(minutes, values, "o-")
    by_epoch.set(xlabel="epoch", ylabel=metric.replace("_", " "))
    by_epoch.xaxis.get_major_locator().set_params(integer=True)
    by_minutes.set(xlabel="minutes of training and validation", xlim=(0, None))
    by_epoch.legend()
    for axes in (by_epoch, by_minutes):
        axes.grid(alpha=0.3)
    return figure


def main() -> None:
    """Draw the runs of the command line."""
    parser = argparse.ArgumentParser(description="Draw learning curves.")
    parser.add_argument("picture", type=Path)
    parser.add_argument("runs", type=Path, nargs="+", help="serialization directories")
    parser.add_argument("--metric", default="validation_accuracy", help="default: %(default)s")
    arguments = parser.parse_args()
    learning_curves(arguments.runs, arguments.metric).savefig(arguments.picture, dpi=120)


if __name__ == "__main__":
    main()
