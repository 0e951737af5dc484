"""Draw the README's picture of the encoders on SICK.

python scripts/plot_sick.py docs/results/sick.json docs/images/sick.png
"""

import argparse
import json
import statistics
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt


def main() -> None:
    """Draw the figures of the first file into the second."""
    parser = argparse.ArgumentParser(description="Draw the encoders' accuracy on SICK.")
    parser.add_argument("results", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text(encoding="utf-8"))
    names = list(results)[::-1]
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for position, name in enumerate(names):
        accuracies = [100 * accuracy for accuracy in results[name]["test_accuracy"]]
        color = "tab:gray" if "BiLSTM" in name and "Su" not in name else "tab:blue"
        axes.plot(accuracies, [position] * len(accuracies), "o", color=color, alpha=0.5)
        axes.plot(statistics.mean(accuracies), position, "|", color=color, markersize=18)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("SICK test accuracy, % (three seeds and their mean, from scratch)")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(arguments.picture, dpi=120)


if __name__ == "__main__":
    main()
