"""Compare the rows that the papers' claims are about: does X score higher than Y here?

    python -m scripts.results.check_claims docs/results/claims.json
    python -m scripts.results.fill_tables

`claims` in that file names, for each claim, a file of results and two of its rows, X (`higher`) and
Y (`lower`): by the configuration, or by the model where several rows have one configuration. They
are compared by `metric`; `"in_percent": true` says that the file has it in percent. This script
writes `records`, from which the page's table is made:

- X and Y: the means over the seeds, each with the standard deviation.
- The difference, with the standard deviation of a difference of two single runs.
- The 95 % interval of the difference over test sets and seeds: a bootstrap (10,000 resamples) of
  the items of `item_scores.py`, the same ones for X and Y, and of the seeds of either row.
- The seeds. All of a line is about the same runs: the runs of the seeds that both rows have, with
  items' scores in both, or without scores if no seed has them. The others are listed as left out.

A claim holds if the whole interval is above zero, does not hold if it is below, and is open
otherwise, or with fewer than three seeds. A row that has not been trained is named as missing.
"""

import argparse
import math
import statistics
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy

from scripts.results.tables import read_items, read_table, write_table

# With fewer seeds, their spread is not known.
MIN_SEEDS = 3
BATCH = 100  # resamples at a time

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

    figures: dict[int, float]
    """Of the metric, by seed; not in percent."""
    items: dict[int, numpy.ndarray]
    """Keyed by seed: (items, 1), scores whose mean is the figure, or (items, 2), predicted and true
    scores whose correlation is the figure. Seeds without recorded scores are missing.
    """


def read_row(results: Path, name: str, metric: str, unit: float = 1) -> Optional[Row]:
    """Return the newest row of a model or configuration in a file, `None` if there is none.

    `unit` is what the file has for a figure of 1.

    # Raises

    `ValueError` if the scores of a seed's items do not make its figure.
    """
    table = read_table(results, {"rows": []})
    rows = [row for row in table["rows"] if name in (row["model"], row.get("configuration"))]
    if not rows:
        return None
    row = rows[-1]
    figures = (numpy.atleast_1d(row["metrics"][metric]) / unit).tolist()
    of_items = metric.removeprefix("validation_")
    data = "test" if of_items == metric else "validation"
    key = (row.get("configuration"), row.get("overrides"), data)
    made = Row(dict(zip(row["seeds"], figures)), {})
    for line in read_items(results):
        # Lines without `data` are from a time when there were only scores of test data.
        if (line["configuration"], line["overrides"], line.get("data", "test")) != key:
            continue
        scores = line["scores"][of_items] if isinstance(line["scores"], dict) else line["scores"]
        items = numpy.array([*scores], dtype=float) / unit  # (items,) or (items, 2)
        seed = line["seed"]
        made.items[seed] = items.reshape(len(items), -1)
        found, figure = float(figure_of(made.items[seed])), made.figures[seed]
        if abs(found - figure) > 0.001:
            raise ValueError(
                f"{results}: the scores of {name} with seed {seed} make {found:.4f}, but its "
                f"figure is {figure}; remove its line of items and run run_seeds again"
            )
    return made


def figure_of(items: numpy.ndarray) -> Any:
    """Return the mean of scores (..., items, 1), or Pearson's correlation of predicted and true
    scores (..., items, 2).
    """
    means = items.mean(axis=-2, keepdims=True)  # (..., 1, 1) or (..., 1, 2)
    if items.shape[-1] == 1:
        return means[..., 0, 0]
    predicted, true = numpy.moveaxis(items - means, -1, 0)  # (..., items) each
    variances = (predicted**2).sum(-1) * (true**2).sum(-1)
    return (predicted * true).sum(-1) / numpy.sqrt(variances)


def compare(
    claim: dict[str, Any], higher: Optional[Row], lower: Optional[Row], bootstrapped: bool
) -> dict[str, str]:
    """Return a line of the table. Without the bootstrap, a line to be tested has no `holds`."""
    record = {key: claim[key] for key in ("claim", "source", "data")}
    if higher is None or lower is None:
        sides = {claim["higher"]: higher, claim["lower"]: lower}
        missing = [name for name, row in sides.items() if row is None]
        return {**record, "holds": f"missing: {', '.join(missing)}"}
    rows = {"higher": higher, "lower": lower}
    common = sorted(higher.figures.keys() & lower.figures.keys())
    if not common:
        return {**record, "holds": "not tested: the rows have no seed in common"}
    tested = [seed for seed in common if seed in higher.items and seed in lower.items]
    seeds = tested or common
    figures = {side: [100 * row.figures[seed] for seed in seeds] for side, row in rows.items()}
    difference = statistics.mean(x - y for x, y in zip(*figures.values()))
    record.update({side: f"{statistics.mean(values):.1f}" for side, values in figures.items()})
    record["difference"] = f"{difference:+.1f}"
    if len(seeds) > 1:
        spreads = {side: statistics.stdev(values) for side, values in figures.items()}
        spreads["difference"] = math.hypot(*spreads.values())
        record.update({key: f"{record[key]} ± {spread:.1f}" for key, spread in spreads.items()})
    record["seeds"] = ", ".join(map(str, seeds))
    left_out = sorted({*higher.figures, *lower.figures} - {*seeds})
    if left_out:
        record["seeds"] += f" (without {', '.join(map(str, left_out))})"
    if not tested:
        record["holds"] = "not tested: the items' scores were not recorded"
    elif bootstrapped:
        items = [numpy.stack([row.items[seed] for seed in seeds]) for row in (higher, lower)]
        low, high = interval(items[0], items[1])
        record["interval"] = f"{100 * low:+.1f} to {100 * high:+.1f}"
        decided = len(seeds) >= MIN_SEEDS and (low > 0 or high < 0)
        record["holds"] = ("yes" if low > 0 else "no") if decided else "open"
    return record


def interval(
    higher: numpy.ndarray, lower: numpy.ndarray, resamples: int = 10_000
) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two rows' figures, by the percentile bootstrap.

    Both are (seeds, items, 1) or (seeds, items, 2). They have the same items, and each resample of
    these is of both. Their seeds have nothing in common, and are drawn for each row by itself.
    """
    generator = numpy.random.default_rng(0)
    differences = numpy.empty(resamples)
    for start in range(0, resamples, BATCH):
        batch = slice(start, min(start + BATCH, resamples))
        size = (batch.stop - batch.start, higher.shape[1])
        chosen = generator.integers(higher.shape[1], size=size)  # (R, items)
        figures = []
        for row in (higher, lower):
            by_seed = figure_of(row[:, chosen])  # (seeds, R)
            seeds = generator.integers(len(row), size=(len(row), size[0]))  # (seeds, R)
            figures.append(numpy.take_along_axis(by_seed, seeds, axis=0).mean(axis=0))  # (R,)
        differences[batch] = figures[0] - figures[1]
    low, high = numpy.percentile(differences, [2.5, 97.5])
    return float(low), float(high)


def check(path: Path, bootstrapped: bool = True) -> list[dict[str, str]]:
    """Return the lines of the table that a file of claims makes.

    Without the bootstrap, the lines that it would test have neither `interval` nor `holds`.
    """
    records = []
    for claim in read_table(path)["claims"]:
        results = path.parent / claim["results"]
        unit = 100 if claim.get("in_percent") else 1
        higher, lower = (
            read_row(results, claim[side], claim["metric"], unit) for side in ("higher", "lower")
        )
        records.append(compare(claim, higher, lower, bootstrapped))
    return records


def main() -> None:
    """Compare the rows and write the records."""
    parser = argparse.ArgumentParser(description="Compare the rows that claims are about.")
    parser.add_argument("claims", type=Path)
    path = parser.parse_args().claims
    table = {**read_table(path), "columns": COLUMNS, "records": check(path)}
    write_table(path, table)
    for record in table["records"]:
        print(f"{record['claim']} ({record['data']}): {record['holds']}")


if __name__ == "__main__":
    main()
