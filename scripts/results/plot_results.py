"""Draw the accuracies in a file of results.

    python -m scripts.results.plot_results docs/results/sick_glove.json docs/images/sick.png

The picture has a point for each seed of a configuration and a bar for their mean.
"""

import argparse
import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure


def accuracy_figure(results: Mapping[str, Any]) -> Figure:
    """Draw the rows that were trained, from top to bottom."""
    rows = [row for row in reversed(results["rows"]) if "configuration" in row]
    figure = Figure(figsize=(7, 0.4 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for y, row in enumerate(rows):
        values = [100 * value for value in row["metrics"]["accuracy"]]
        axes.plot(values, [y] * len(values), "o", color="tab:blue", alpha=0.5)
        axes.plot(statistics.mean(values), y, "|", color="tab:blue", markersize=18)
    axes.set_yticks(range(len(rows)), [row["model"] for row in rows])
    data_set = results["data"].split(":")[0]
    axes.set_xlabel(f"{data_set}: {results['metrics']['accuracy']} (each seed and the mean)")
    axes.grid(axis="x", alpha=0.3)
    return figure


def main() -> None:
    """Draw the file of the command line."""
    parser = argparse.ArgumentParser(description="Plot the accuracy of every configuration.")
    parser.add_argument("results", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text(encoding="utf-8"))
    accuracy_figure(results).savefig(arguments.picture, dpi=120)


if __name__ == "__main__":
    main()
