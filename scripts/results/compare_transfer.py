"""Compare rows of a table of transfer: are the vectors of X better than the vectors of Y?

    python -m scripts.results.compare_transfer docs/results/transfer_comparison.json
    python -m scripts.results.fill_tables

`comparisons` in that file names two rows (`higher` and `lower`) of the file `results`, each with a
figure for each seed. They are compared over their common seeds. This script writes `records`,
from which the page's table is made:

- The averages of X and Y over the ten tasks: the means over the seeds, each with the standard
  deviation.
- The difference, with the standard deviation of a difference of two single runs.
- The number of tasks on which X is higher, and the two-sided p of Wilcoxon's signed-rank test over
  the tasks
  (for each, a pair of means over the seeds): the test that Demšar (2006), "Statistical
  Comparisons of Classifiers over Multiple Data Sets", recommends for two classifiers.
"""

import argparse
import math
import statistics
from pathlib import Path
from typing import Any

from scipy.stats import wilcoxon

from allennlp_sentmatch.transfer.report import AVERAGED, metric_key
from scripts.results.tables import read_table, write_table

COLUMNS = {
    "X": "higher",
    "Y": "lower",
    "average of X": "average_higher",
    "average of Y": "average_lower",
    "X - Y": "difference",
    "tasks with X above Y": "tasks",
    "p": "p",
    "seeds": "seeds",
}


def compare(higher: dict[str, Any], lower: dict[str, Any]) -> dict[str, str]:
    """Return a line of the table, from two rows of a file of results.

    # Raises

    `ValueError` for rows with fewer than two common seeds.
    """
    seeds = sorted({*higher["seeds"]} & {*lower["seeds"]})
    if len(seeds) < 2:
        raise ValueError(
            f"{higher['model']} and {lower['model']} have fewer than two seeds in common"
        )

    def figures(row: dict[str, Any], name: str) -> list[float]:
        return [row["metrics"][name][row["seeds"].index(seed)] for seed in seeds]

    averages = [figures(row, "average") for row in (higher, lower)]
    means, spreads = (list(map(of, averages)) for of in (statistics.mean, statistics.stdev))
    by_task = [
        statistics.mean(figures(higher, name)) - statistics.mean(figures(lower, name))
        for name in (metric_key(task, figure) for task, figure in AVERAGED.items())
    ]
    return {
        "higher": higher["model"],
        "lower": lower["model"],
        "average_higher": f"{means[0]:.1f} ± {spreads[0]:.1f}",
        "average_lower": f"{means[1]:.1f} ± {spreads[1]:.1f}",
        "difference": f"{means[0] - means[1]:+.1f} ± {math.hypot(*spreads):.1f}",
        "tasks": f"{sum(task > 0 for task in by_task)} of {len(by_task)}",
        "p": f"{wilcoxon(by_task).pvalue:.3f}",
        "seeds": ", ".join(map(str, seeds)),
    }


def main() -> None:
    """Compare the rows and write the records."""
    parser = argparse.ArgumentParser(description="Compare rows of a table of transfer.")
    parser.add_argument("comparison", type=Path)
    path = parser.parse_args().comparison
    table = read_table(path)
    results = read_table(path.parent / table["results"])
    rows = {row["model"]: row for row in results["rows"]}
    records = [compare(rows[pair["higher"]], rows[pair["lower"]]) for pair in table["comparisons"]]
    table.update(columns=COLUMNS, records=records)
    write_table(path, table)
    for record in records:
        print(f"{record['higher']} against {record['lower']}: {record['difference']}")


if __name__ == "__main__":
    main()
