"""Draw one figure of a file of results.

    python scripts/plot_results.py docs/results/sick_glove.json docs/images/sick.png

The picture has a point for each seed of a configuration and a bar for their mean.
"""

import argparse
import json
import statistics
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt


def main() -> None:
    """Draw the rows of a file of results that were trained."""
    parser = argparse.ArgumentParser(description="Plot a figure of every configuration.")
    parser.add_argument("results", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--metric", default="accuracy")
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text(encoding="utf-8"))
    rows = [row for row in reversed(results["rows"]) if "configuration" in row]
    figure, axes = plt.subplots(figsize=(7, 0.4 * len(rows)), layout="constrained")
    for y, row in enumerate(rows):
        values = [100 * value for value in row["metrics"][arguments.metric]]
        axes.plot(values, [y] * len(values), "o", color="tab:blue", alpha=0.5)
        axes.plot(statistics.mean(values), y, "|", color="tab:blue", markersize=18)
    axes.set_yticks(range(len(rows)), [row["model"] for row in rows])
    data_set = results["data"].split(":")[0]
    title = results["metrics"][arguments.metric]
    axes.set_xlabel(f"{data_set}: {title} (each seed and the mean)")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(arguments.picture, dpi=120)


if __name__ == "__main__":
    main()
