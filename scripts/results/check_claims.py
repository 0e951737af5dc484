"""Compare the rows of the papers' claims: does X score higher than Y here?

    python -m scripts.results.check_claims docs/results/claims.json
    python -m scripts.results.fill_tables

`claims` in that file names, for each claim, a file of results and two of its rows, X (`higher`) and
Y (`lower`): by the configuration, or by the model if several rows have the same configuration. They
are compared by `metric`; `"in_percent": true` means that the file has it in percent. This script
writes `records`, from which the page's table is made:

- X and Y: the means over the seeds, each with the standard deviation.
- The difference, with the standard deviation of a difference of two single runs, and the difference
  of the published figures of the two configurations. A claim whose source compares X with another
  model than Y has that difference itself, as `"published": "+3.9"`.
- The 95 % interval of the difference over test sets and seeds (`allennlp_sentmatch.comparison`): a
  bootstrap of the items' scores, with the same items for X and Y, and of each row's seeds; and its
  p, corrected for the number of lines tested.
- The smallest difference that so many items and seeds would find in 80 % of cases, and the number
  of seeds with which the difference would be found, if it is as large as it seems.
- The seeds. A line is always about the same runs: those of the seeds that both rows have, with
  items' scores in both, or without scores if no seed has them. Other seeds are listed as left out;
  seeds that today's command would not reproduce do not count.

A claim holds if the whole interval is above zero, does not hold if it is below, and is open
otherwise, or with fewer than three seeds. A row that has not been trained is named as missing.
"""

import argparse
import math
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy

from allennlp_sentmatch.comparison import holm
from allennlp_sentmatch.comparison.statistics import Comparison, compare, figure_of
from scripts.results.fill_tables import published
from scripts.results.tables import read_items, read_table, write_table

# With fewer seeds, the spread is unknown.
MIN_SEEDS = 3

COLUMNS = {
    "claim": "claim",
    "source": "source",
    "data": "data",
    "X": "higher",
    "Y": "lower",
    "X - Y": "difference",
    "published X - Y": "published",
    "95 % interval": "interval",
    "p, Holm": "p_holm",
    "could be found": "smallest",
    "seeds": "seeds",
    "supported": "holds",
    "seeds to decide": "needed",
}


class Row(NamedTuple):
    """The recorded runs of a configuration on some data."""

    figures: dict[int, float]
    """Figures of the metric, by seed; not in percent."""
    items: dict[int, numpy.ndarray]
    """Keyed by seed: (items, 1), scores whose mean is the figure, or (items, 2), predicted and true
    scores whose correlation is the figure. Seeds without recorded scores are missing.
    """
    published: Optional[float] = None
    """The paper's figure for the configuration, in percent, if there is one."""


def read_row(results: Path, name: str, metric: str, unit: float = 1) -> Optional[Row]:
    """Return the newest row of a model or configuration in a file, `None` if there is none.

    Seeds that today's command would not reproduce (`outdated`) are left out. `unit` is the file's
    value for a figure of 1.

    # Raises

    `ValueError` if the scores of a seed's items do not give its figure.
    """
    table = read_table(results, {"rows": []})
    rows = [row for row in table["rows"] if name in (row["model"], row.get("configuration"))]
    if not rows:
        return None
    row = rows[-1]
    recorded = (numpy.atleast_1d(row["metrics"][metric]) / unit).tolist()
    figures = dict(zip(row["seeds"], recorded))
    for seed in row.get("outdated", ()):
        del figures[int(seed)]
    if not figures:
        return None
    of_items = metric.removeprefix("validation_")
    data = "test" if of_items == metric else "validation"
    key = (row.get("configuration"), row.get("overrides"), data)
    made = Row(figures, {}, published_figure(row))
    for line in read_items(results):
        # Lines without `data` are from when only test data had scores.
        if (line["configuration"], line["overrides"], line.get("data", "test")) != key:
            continue
        if line["seed"] not in figures:
            continue
        scores = line["scores"][of_items] if isinstance(line["scores"], dict) else line["scores"]
        items = numpy.array([*scores], dtype=float) / unit  # (items,) or (items, 2)
        seed = line["seed"]
        made.items[seed] = items.reshape(len(items), -1)
        found = float(figure_of(made.items[seed]))
        figure = made.figures[seed]
        if abs(found - figure) > 0.001:
            raise ValueError(
                f"{results}: the scores of {name} with seed {seed} make {found:.4f}, but its "
                f"figure is {figure}; remove its line of items and run run_seeds again"
            )
    return made


def published_figure(row: dict[str, Any]) -> Optional[float]:
    """Return the published figure of a row in percent, if it is a single one."""
    match = re.fullmatch(r"([\d.]+) %", published(row))
    return float(match[1]) if match else None


def tested_seeds(higher: Row, lower: Row) -> tuple[list[int], bool]:
    """Return the seeds of a line, and whether their items' scores are recorded.

    They are the seeds of both rows with scores; all seeds of both rows if none has scores.
    """
    common = sorted(higher.figures.keys() & lower.figures.keys())
    tested = [seed for seed in common if seed in higher.items and seed in lower.items]
    return tested or common, bool(tested)


def comparison_of(higher: Optional[Row], lower: Optional[Row]) -> Optional[Comparison]:
    """Return the statistics of two rows; `None` if there are no scores to compare."""
    if higher is None or lower is None:
        return None
    seeds, are_scored = tested_seeds(higher, lower)
    if not are_scored:
        return None
    items = [numpy.stack([row.items[seed] for seed in seeds]) for row in (higher, lower)]
    return compare(items[0], items[1])


def described(claim: dict[str, Any], higher: Optional[Row], lower: Optional[Row]) -> dict[str, str]:
    """Return a line of the table without the columns that `tested` adds."""
    record = {key: claim[key] for key in ("claim", "source", "data")}
    if higher is None or lower is None:
        sides = {claim["higher"]: higher, claim["lower"]: lower}
        missing = [name for name, row in sides.items() if row is None]
        return {**record, "holds": f"missing: {', '.join(missing)}"}
    seeds, are_scored = tested_seeds(higher, lower)
    if not seeds:
        return {**record, "holds": "not tested: the rows have no seed in common"}
    record.update(described_figures(higher, lower, seeds))
    if "published" in claim:
        record["published"] = claim["published"]
    record["seeds"] = ", ".join(map(str, seeds))
    left_out = sorted({*higher.figures, *lower.figures} - {*seeds})
    if left_out:
        record["seeds"] += f" (without {', '.join(map(str, left_out))})"
    if not are_scored:
        record["holds"] = "not tested: the items' scores were not recorded"
    return record


def described_figures(higher: Row, lower: Row, seeds: Sequence[int]) -> dict[str, str]:
    """Return the figures of two rows and their difference, over these seeds and as published."""
    rows = {"higher": higher, "lower": lower}
    figures = {side: [100 * row.figures[seed] for seed in seeds] for side, row in rows.items()}
    difference = statistics.mean(x - y for x, y in zip(*figures.values()))
    record = {side: f"{statistics.mean(values):.1f}" for side, values in figures.items()}
    record["difference"] = f"{difference:+.1f}"
    if len(seeds) > 1:
        spreads = {side: statistics.stdev(values) for side, values in figures.items()}
        spreads["difference"] = math.hypot(*spreads.values())
        record = {key: f"{figure} ± {spreads[key]:.1f}" for key, figure in record.items()}
    if higher.published is not None and lower.published is not None:
        record["published"] = f"{higher.published - lower.published:+.1f}"
    return record


def tested(record: dict[str, str], found: Comparison) -> dict[str, str]:
    """Return a line of the table with its interval and verdict and, with three seeds, its power."""
    interval = f"{100 * found.low:+.1f} to {100 * found.high:+.1f}"
    seeds = record["seeds"].split(" (")[0]
    if len(seeds.split(", ")) < MIN_SEEDS:
        return {**record, "interval": interval, "holds": "open"}
    smallest = f"{100 * found.smallest:.1f}"
    powerful = {**record, "interval": interval, "smallest": smallest}
    if found.low > 0:
        return {**powerful, "holds": "yes"}
    if found.high < 0:
        return {**powerful, "holds": "no"}
    needed = "more items" if found.seeds_to_decide is None else str(found.seeds_to_decide)
    return {**powerful, "holds": "open", "needed": needed}


def check(path: Path, bootstrapped: bool = True) -> list[dict[str, str]]:
    """Return the lines of the table for a file of claims.

    Without the bootstrap, they lack the columns that `tested` adds.
    """
    records: list[dict[str, str]] = []
    comparisons: dict[int, Comparison] = {}
    for claim in read_table(path)["claims"]:
        results = path.parent / claim["results"]
        unit = 100 if claim.get("in_percent") else 1
        higher, lower = (
            read_row(results, claim[side], claim["metric"], unit) for side in ("higher", "lower")
        )
        record = described(claim, higher, lower)
        found = comparison_of(higher, lower) if bootstrapped else None
        if found is not None:
            record = tested(record, found)
            if "smallest" in record:
                comparisons[len(records)] = found
        records.append(record)
    corrected = holm([found.p for found in comparisons.values()])
    for index, p in zip(comparisons, corrected):
        records[index]["p_holm"] = f"{p:.2g}"
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
