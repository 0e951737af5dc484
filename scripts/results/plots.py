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
import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from matplotlib.figure import Figure

from allennlp_sentmatch.tuning.report import minutes_of
from scripts.results.tables import read_table

TASKS = {
    "MR": "mr_accuracy", "CR": "cr_accuracy", "SUBJ": "subj_accuracy", "MPQA": "mpqa_accuracy",
    "SST": "sst_accuracy", "TREC": "trec_accuracy", "MRPC": "mrpc_f1", "SICK-R": "sick_r_pearson",
    "SICK-E": "sick_e_accuracy", "STSB": "stsb_pearson", "average": "average",
}  # fmt: skip
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
    names = [f"{folder}/{name}" for name in (encoder, "bilstm")]
    rows: list[Any] = [
        next((r for r in results["rows"] if f"/{r.get('configuration')}".endswith(name)), None)
        for name in names
    ]
    if None in rows:
        return None
    metric = next(metric for metric in metrics if metric in rows[0]["metrics"])
    scale = 1 if metric == "average" else 100
    values = [row["metrics"][metric] for row in rows]
    values = [[scale * x for x in (v if isinstance(v, list) else [v])] for v in values]
    several = min(map(len, values)) > 1
    error = sum(statistics.variance(v) / len(v) for v in values) ** 0.5 if several else 0.0
    return statistics.mean(values[0]) - statistics.mean(values[1]), error


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
        measured = [gain(transfer, encoder, [m], "/allnli_small") for m in TASKS.values()]
        published = [gain(transfer, encoder, [m], "/allnli") for m in TASKS.values()]
        accuracies = ("accuracy", "validation_accuracy")
        of_data = [gain(results, encoder, accuracies) for results in others]
        for axes, gains in ((by_task, measured), (by_data, [*of_data, measured[-1]])):
            for x, pair in enumerate(gains):
                if pair is not None:
                    label = title if x == len(gains) - 1 else None
                    axes.bar(
                        x + WIDTH * (i - 0.5), pair[0], WIDTH, yerr=pair[1] or None,
                        color=f"C{i}", label=label,
                    )  # fmt: skip
        for x, pair in enumerate(published):
            if pair is not None:
                label = "published" if x == i == 0 else None
                by_task.plot(x + WIDTH * (i - 0.5), pair[0], "kD", fillstyle="none", label=label)
    names = [
        "\n".join([r["data"].split(":")[0], r["vectors"].split(",")[0], f"{size:,}"])
        for r, size in ((results, training_size(results["data"])) for results in others)
    ]
    by_task.set(ylabel="gain over BiLSTM, points", title="sentence vectors in ten tasks")
    by_task.set_xticks(range(len(TASKS)), list(TASKS), fontsize="small")
    by_data.set(title="in order of the training pairs")
    names.append("average of\nthe tasks")
    by_data.set_xticks(range(len(names)), names, fontsize="x-small")
    by_task.legend()
    for axes in (by_task, by_data):
        axes.axhline(0, color="black", linewidth=0.8)
        axes.grid(axis="y", alpha=0.3)
    return figure


def main() -> None:
    """Draw the picture of the command line."""
    parser = argparse.ArgumentParser(description="Draw a picture of results.")
    parser.add_argument("kind", choices=["accuracies", "curves", "gains"])
    parser.add_argument("picture", type=Path)
    parser.add_argument(
        "results",
        type=Path,
        nargs="+",
        help="files, or folders of runs",
    )
    options = parser.parse_args()
    if options.kind == "curves":
        figure = learning_curves(options.results)
    else:
        first, *others = map(read_table, options.results)
        figure = gains_figure(first, others) if options.kind == "gains" else accuracy_figure(first)
    figure.savefig(options.picture, dpi=120)


if __name__ == "__main__":
    main()
