"""Compare the rows that the papers' claims are about: does X score higher than Y here?

    python scripts/check_claims.py docs/results/claims.json
    python scripts/fill_tables.py

`claims` in that file names, for each claim, a file of results and two of its rows, X (`higher`) and
Y (`lower`): by the configuration, or by the model where several rows have one configuration. This
script writes `records`, from which the page's table is made:

- X and Y: the means over the seeds, each with the standard deviation.
- The difference, with the standard deviation of a difference of two single runs.
- The 95 % interval of the difference over test sets: a paired bootstrap (10,000 resamples) of the
  items of `scripts/item_scores.py`. A figure is averaged over the seeds of a row, so that the
  interval lacks the spread over the seeds.

A claim holds if the whole interval is above zero, does not hold if it is below, and is open
otherwise. A row that has not been trained is named as missing.
"""

import argparse
import json
import math
import statistics
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy
from scipy.stats import bootstrap

REPOSITORY = Path(__file__).resolve().parents[1]

COLUMNS = {
    "claim": "claim",
    "source": "source",
    "data": "data",
    "X": "higher",
    "Y": "lower",
    "X - Y": "difference",
    "95 % interval": "interval",
    "seeds": "seeds",
    "supported": "holds",
}


class Row(NamedTuple):
    """The recorded runs of a configuration on some data."""

    figures: list[float]
    """Of the metric, one for each seed."""
    items: Optional[numpy.ndarray]
    """(seeds, items, 1), scores of which the figure is the mean, or (seeds, items, 2), predicted
    and true scores of which it is the correlation; `None` if none were recorded.
    """


def read_row(results: Path, name: str, metric: str) -> Optional[Row]:
    """The newest row of a model or a configuration in a file of results, `None` if there is none.

    # Raises

    `ValueError` if the scores of a seed's items do not make its figure.
    """
    table = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {"rows": []}
    rows = [row for row in table["rows"] if name in (row["model"], row.get("configuration"))]
    if not rows:
        return None
    row = rows[-1]
    figures = row["metrics"][metric]
    if not isinstance(figures, list):
        figures = [figures]
    path = results.parent / "items" / f"{results.stem}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    key = (row.get("configuration"), row.get("overrides"))
    scores = []
    for line in map(json.loads, lines):
        if (line["configuration"], line["overrides"]) != key:
            continue
        items = numpy.array([*line["scores"]], dtype=float)
        scores.append(items.reshape(len(items), -1))
        made = float(figure_of(scores[-1]))
        figure = figures[row["seeds"].index(line["seed"])]
        if abs(made - figure) > 0.001:
            raise ValueError(
                f"{path}: the scores of {name} with seed {line['seed']} make {made:.4f}, but its "
                f"figure is {figure}; delete the line and run scripts/run_seeds.py again"
            )
    return Row(figures, numpy.stack(scores) if scores else None)


def figure_of(items: numpy.ndarray) -> numpy.ndarray:
    """The mean of scores, of shape (..., items, 1), or Pearson's correlation of predicted and true
    scores, of shape (..., items, 2).
    """
    means = items.mean(axis=-2, keepdims=True)  # (..., 1, 1) or (..., 1, 2)
    if items.shape[-1] == 1:
        return means[..., 0, 0]
    predicted, true = numpy.moveaxis(items - means, -1, 0)  # (..., items) each
    variances = (predicted**2).sum(-1) * (true**2).sum(-1)
    return (predicted * true).sum(-1) / numpy.sqrt(variances)


def compare(claim: dict[str, Any], higher: Optional[Row], lower: Optional[Row]) -> dict[str, str]:
    """A line of the table."""
    record = {key: claim[key] for key in ("claim", "source", "data")}
    missing = [claim[side] for side, row in (("higher", higher), ("lower", lower)) if row is None]
    if higher is None or lower is None:
        return {**record, "holds": f"missing: {', '.join(missing)}"}
    difference = statistics.mean(higher.figures) - statistics.mean(lower.figures)
    record["higher"], record["lower"] = in_percent(higher.figures), in_percent(lower.figures)
    record["difference"] = f"{100 * difference:+.1f}"
    if min(len(higher.figures), len(lower.figures)) > 1:
        spread = math.hypot(statistics.stdev(higher.figures), statistics.stdev(lower.figures))
        record["difference"] += f" ± {100 * spread:.1f}"
    record["seeds"] = ", ".join(dict.fromkeys(str(len(row.figures)) for row in (higher, lower)))
    if higher.items is None or lower.items is None:
        return {**record, "holds": "not tested: the items' scores were not recorded"}
    low, high = interval(higher.items, lower.items)
    record["interval"] = f"{100 * low:+.1f} to {100 * high:+.1f}"
    return {**record, "holds": "yes" if low > 0 else "no" if high < 0 else "open"}


def interval(higher: numpy.ndarray, lower: numpy.ndarray) -> tuple[float, float]:
    """The 95 % interval of the difference of two rows' figures, by the percentile bootstrap.

    Both are (seeds, items, 1) or (seeds, items, 2). They have the same items, and each resample of
    these is of both.
    """

    def difference(chosen: numpy.ndarray, axis: int) -> numpy.ndarray:
        """Of the items with the indices `chosen`, (resamples, items)."""
        return sum(
            sign * figure_of(row[:, chosen]).mean(axis=0)  # over the seeds
            for sign, row in ((1, higher), (-1, lower))
        )

    result = bootstrap(
        (numpy.arange(higher.shape[1]),),
        difference,
        n_resamples=10_000,
        batch=100,
        vectorized=True,
        method="percentile",
        random_state=0,
    )
    low, high = result.confidence_interval
    return float(low), float(high)


def in_percent(figures: list[float]) -> str:
    """The mean of the figures, with the standard deviation of several."""
    text = f"{100 * statistics.mean(figures):.1f}"
    return f"{text} ± {100 * statistics.stdev(figures):.1f}" if len(figures) > 1 else text


def check(path: Path) -> list[dict[str, str]]:
    """The lines of the table that a file of claims makes."""
    records = []
    for claim in json.loads(path.read_text(encoding="utf-8"))["claims"]:
        results = path.parent / claim["results"]
        sides = (read_row(results, claim[side], claim["metric"]) for side in ("higher", "lower"))
        records.append(compare(claim, *sides))
    return records


def main() -> None:
    """Compare the rows and write the records."""
    parser = argparse.ArgumentParser(description="Compare the rows that claims are about.")
    parser.add_argument("claims", type=Path)
    path = parser.parse_args().claims
    table = json.loads(path.read_text(encoding="utf-8"))
    table.update(columns=COLUMNS, records=check(path))
    path.write_text(json.dumps(table, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for record in table["records"]:
        print(f"{record['claim']} ({record['data']}): {record['holds']}")


if __name__ == "__main__":
    main()
