"""Draw the pictures of docs/results.md and docs/transfer.md.

    python -m scripts.results.plots accuracies docs/images/sick.png docs/results/sick_glove.json
    python -m scripts.results.plots curves docs/images/learning_curves.png out/tree out/bilstm
    python -m scripts.results.plots gains docs/images/subilstm_gains.png \
        docs/results/transfer.json docs/results/sick.json docs/results/sick_glove.json

- `accuracies`: a point for each seed of a configuration and a bar for their mean.
- `curves`: the validation accuracy in each `metrics_epoch_*.json` of some training runs, by epochs
  and by minutes of training (thesis, figure 3.3).
- `gains`: the gains of SuBiLSTM over a BiLSTM (SuBiLSTM, figures 2 and 3). Left, the tasks of the
  first file and their average, with the published gains; right, the accuracy of the other files in
  order of their training data, and that average. A bar is the difference of the means over the
  seeds, in points; its line is the standard error, if there are at least two seeds.
"""

import argparse
import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from allennlp_sentmatch.tuning.report import minutes_of
from scripts.results.tables import read_table

TASKS = {
    "MR": "mr_accuracy",
    "CR": "cr_accuracy",
    "SUBJ": "subj_accuracy",
    "MPQA": "mpqa_accuracy",
    "SST": "sst_accuracy",
    "TREC": "trec_accuracy",
    "MRPC": "mrpc_f1",
    "SICK-R": "sick_r_pearson",
    "SICK-E": "sick_e_accuracy",
    "STSB": "stsb_pearson",
    "average": "average",
}
ACCURACIES = ("accuracy", "validation_accuracy")
ENCODERS = {"subilstm": "SuBiLSTM", "subilstm_tied": "SuBiLSTM-Tied"}
WIDTH = 0.4


def accuracy_figure(results: Mapping[str, Any]) -> Figure:
    """Draw the trained rows, from top to bottom."""
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


def read_curve(run: Path, metric: str) -> tuple[list[int], list[float], list[float]]:
    """Return a run's epochs, counted from 1, the minutes until the end of each, and its metric.

    # Raises

    `ValueError` for a folder without epochs, or epochs without the metric.
    """
    found = {int(p.stem.rpartition("_")[2]): p for p in run.glob("metrics_epoch_*.json")}
    epochs = [json.loads(path.read_text(encoding="utf-8")) for _, path in sorted(found.items())]
    if not epochs or any(metric not in epoch for epoch in epochs):
        raise ValueError(f"{run} has no metrics_epoch_*.json with {metric!r}")
    minutes = [minutes_of(epoch["training_duration"]) for epoch in epochs]
    return [n + 1 for n in sorted(found)], minutes, [epoch[metric] for epoch in epochs]


def learning_curves(runs: Sequence[Path], metric: str = "validation_accuracy") -> Figure:
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


def gain(
    results: Mapping[str, Any], encoder: str, metrics: Sequence[str], folder: str = ""
) -> Optional[tuple[float, float]]:
    """Return the gain of an encoder in the first metric that its row has, and the standard error.

    The rows are the first ones with the configurations FOLDER/ENCODER and FOLDER/bilstm; `None` if
    one is missing. If a row has only one seed, the error is 0.
    """
    row = find_row(results, f"{folder}/{encoder}")
    baseline = find_row(results, f"{folder}/bilstm")
    if row is None or baseline is None:
        return None
    metric = next(metric for metric in metrics if metric in row["metrics"])
    figures = points(row["metrics"][metric], metric)
    baseline_figures = points(baseline["metrics"][metric], metric)
    error = 0.0
    if min(len(figures), len(baseline_figures)) > 1:
        error = math.hypot(standard_error(figures), standard_error(baseline_figures))
    return statistics.mean(figures) - statistics.mean(baseline_figures), error


def find_row(results: Mapping[str, Any], ending: str) -> Optional[Mapping[str, Any]]:
    """Return the first row whose configuration ends in FOLDER/NAME; `None` if there is none."""
    for row in results["rows"]:
        if f"/{row.get('configuration')}".endswith(ending):
            found: Mapping[str, Any] = row
            return found
    return None


def points(figures: Union[float, Sequence[float]], metric: str) -> list[float]:
    """Return the figures of a row's seeds in points; only the average is recorded in points."""
    scale = 1 if metric == "average" else 100
    of_seeds = figures if isinstance(figures, Sequence) else [figures]
    return [scale * figure for figure in of_seeds]


def standard_error(figures: Sequence[float]) -> float:
    """Return the standard error of the mean of at least two figures."""
    return statistics.stdev(figures) / math.sqrt(len(figures))


def training_size(data: str) -> int:
    """Return the number of training examples in the description of a file of results."""
    found = re.search(r"([\d,]+)(?: of [\d,]+)? training", data)
    assert found, data
    return int(found[1].replace(",", ""))


def gains_figure(transfer: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw both panels."""
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    by_task, by_data = figure.subplots(1, 2, sharey=True, width_ratios=(5, 3))
    others = sorted(others, key=lambda results: training_size(results["data"]))
    for i, (encoder, title) in enumerate(ENCODERS.items()):
        shift = WIDTH * (i - 0.5)
        color = f"C{i}"
        of_tasks = [gain(transfer, encoder, [m], "/allnli_small") for m in TASKS.values()]
        draw_gains(by_task, of_tasks, shift, color, title)
        of_data = [gain(results, encoder, ACCURACIES) for results in others]
        draw_gains(by_data, [*of_data, of_tasks[-1]], shift, color, title)
        published = [gain(transfer, encoder, [m], "/allnli") for m in TASKS.values()]
        draw_published(by_task, published, shift, "published" if i == 0 else None)
    by_task.set(ylabel="gain over BiLSTM, points", title="sentence vectors in ten tasks")
    by_task.set_xticks(range(len(TASKS)), list(TASKS), fontsize="small")
    by_task.legend()
    by_data.set(title="in order of the training pairs")
    names = [*map(name_of_data, others), "average of\nthe tasks"]
    by_data.set_xticks(range(len(names)), names, fontsize="x-small")
    for axes in (by_task, by_data):
        axes.axhline(0, color="black", linewidth=0.8)
        axes.grid(axis="y", alpha=0.3)
    return figure


def draw_gains(
    axes: Axes,
    gains: Sequence[Optional[tuple[float, float]]],
    shift: float,
    color: str,
    title: str,
) -> None:
    """Draw a bar for each gain that was measured, `shift` beside its tick.

    The title is the label of the last one, since all of them have one entry in the legend.
    """
    last = len(gains) - 1
    for x, measured in enumerate(gains):
        if measured is None:
            continue
        height, error = measured
        label = title if x == last else None
        axes.bar(x + shift, height, WIDTH, yerr=error or None, color=color, label=label)


def draw_published(
    axes: Axes,
    gains: Sequence[Optional[tuple[float, float]]],
    shift: float,
    label: Optional[str],
) -> None:
    """Draw a diamond for each gain that was published; the first one has the label."""
    for x, published in enumerate(gains):
        if published is None:
            continue
        height, _ = published
        axes.plot(x + shift, height, "kD", fillstyle="none", label=label if x == 0 else None)


def name_of_data(results: Mapping[str, Any]) -> str:
    """Return the data, the vectors and the number of training examples, a line each."""
    data = results["data"].split(":")[0]
    vectors = results["vectors"].split(",")[0]
    return f"{data}\n{vectors}\n{training_size(results['data']):,}"


def main() -> None:
    """Draw the picture of the command line."""
    parser = argparse.ArgumentParser(description="Draw a picture of results.")
    parser.add_argument("kind", choices=["accuracies", "curves", "gains"])
    parser.add_argument("picture", type=Path)
    parser.add_argument("results", type=Path, nargs="+", help="files, or folders of runs")
    options = parser.parse_args()
    if options.kind == "curves":
        figure = learning_curves(options.results)
    elif options.kind == "accuracies":
        figure = accuracy_figure(read_table(options.results[0]))
    else:
        first, *others = map(read_table, options.results)
        figure = gains_figure(first, others)
    figure.savefig(options.picture, dpi=120)


if __name__ == "__main__":
    main()
