"""The plan of the queue: the runs that the claims of the papers still need, in their order.

**The order.** An interval from fewer than three seeds decides nothing, and counts as `UNDECIDED`
points wide. With n seeds, their part of an interval has the width

    2 * 1.96 * sqrt((s_X^2 + s_Y^2) / n)

with the standard deviations s over the seeds of X and Y. The next step of a claim is its third
seed, or one more. Its value is the reduction of the interval's width, divided by the minutes of its
runs. A step that will probably decide the claim (`needed` in claims.json) counts as a reduction by
`UNDECIDED`. Seeds with other settings than today's, or unknown ones, come last.

**The end.** A claim that three seeds decide has no next step. Any other claim gets `ENOUGH_SEEDS`,
even if four seeds decide it: to stop as soon as an interval excludes zero would find differences by
chance.

**The rows.** A recorded row says how it is trained. wanted.json, next to this file, describes the
others: for each file of results, their configurations, with overrides in which `CONFIGURATION` is
replaced, and how long a run takes.
"""

import json
import math
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Optional

from scripts.experiments import CONFIGURATIONS, REPOSITORY
from scripts.results.check_claims import MIN_SEEDS, Row, comparison_of, read_row
from scripts.results.rows import Series, empty_table, has_settings, name_of, seeds_in
from scripts.results.run_seeds import Training, parsed
from scripts.results.settings import digests_of
from scripts.results.tables import read_table

RESULTS = REPOSITORY / "docs" / "results"
WANTED = Path(__file__).with_name("wanted.json")

ENOUGH_SEEDS = 5
UNDECIDED = 10.0  # percentage points
USUAL_SPREAD = 0.7
"""The assumed standard deviation, in percentage points, of a row with fewer than three seeds."""


class Wanted(NamedTuple):
    """A row that the queue can train."""

    file: str
    """The file of results, under docs/results/."""
    model: str
    configuration: str
    overrides: str
    differs: str
    minutes: float
    digest: str
    """The digest of the configuration's current settings."""

    def series(self) -> Series:
        """Return the row's place in its file."""
        config = CONFIGURATIONS / f"{self.configuration}.jsonnet"
        return Series(RESULTS / self.file, config, self.overrides)


class Run(NamedTuple):
    """A run to be trained."""

    row: Wanted
    seed: int

    def training(self, output: Path, commit: Optional[str] = None) -> Training:
        """Return how the run is trained, in a folder under `output`."""
        series = self.row.series()
        name = f"{Path(self.row.file).stem}/{name_of(series.config)}/{self.row.digest}"
        overrides, _ = parsed(self.row.overrides)
        config = series.config.relative_to(REPOSITORY)
        return Training(config, overrides, output / name, threads=1, commit=commit)


class Step(NamedTuple):
    """The runs that bring a claim to its next number of seeds."""

    claim: str
    value: float
    """The value of the step, in percentage points per minute."""
    runs: list[Run]


def wanted_rows() -> list[Wanted]:
    """Return the recorded rows, and those that wanted.json describes."""
    described: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in [*recorded_rows(), *described_rows()]:
        described.setdefault((row["file"], row["configuration"], row["overrides"]), row)
    experiments = tuple((configuration, overrides) for _, configuration, overrides in described)
    digests = _digests(experiments)
    return [Wanted(**row, digest=digest) for row, digest in zip(described.values(), digests)]


def recorded_rows() -> Iterator[dict[str, Any]]:
    """Yield the fields of `Wanted`, except the digest, for each row that `run_seeds.py`
    recorded.
    """
    for path in sorted(RESULTS.glob("*.json")):
        for row in read_table(path).get("rows", ()):
            if seeds_in(row):
                yield {
                    "file": path.name,
                    "model": row["model"],
                    "configuration": row["configuration"],
                    "overrides": row["overrides"],
                    "differs": row.get("differs", ""),
                    "minutes": statistics.mean(row["minutes"]),
                }


def described_rows() -> Iterator[dict[str, Any]]:
    """Yield the fields of `Wanted`, except the digest, for each row of wanted.json."""
    for file, group in json.loads(WANTED.read_text(encoding="utf-8")).items():
        for row in group["rows"]:
            template = row.get("overrides", group["overrides"])
            overrides = template.replace("CONFIGURATION", row["configuration"])
            yield {
                "file": file,
                "differs": "",
                **row,
                "overrides": overrides,
            }


@cache
def _digests(experiments: tuple[tuple[str, str], ...]) -> list[str]:
    return digests_of(experiments)


def find_row(rows: list[Wanted], file: str, name: str) -> Optional[Wanted]:
    """Return the last row of a claim, which names the model or the configuration."""
    found = [row for row in rows if row.file == file and name in (row.model, row.configuration)]
    return found[-1] if found else None


def figures_of(row: Wanted) -> dict[int, dict[str, Any]]:
    """Return the figures of a row's seeds; none if it has not been recorded."""
    path = RESULTS / row.file
    for one in read_table(path)["rows"] if path.exists() else ():
        if (one.get("configuration"), one.get("overrides")) == (row.configuration, row.overrides):
            return seeds_in(one)
    return {}


def valid_figures(row: Wanted) -> dict[int, dict[str, Any]]:
    """Return the figures of a row's seeds, without those that had other settings."""
    figures = figures_of(row)
    return {seed: one for seed, one in figures.items() if has_settings(one, row.digest)}


def steps() -> list[Step]:
    """Return the next step of each claim that is open, the most valuable one first."""
    rows = wanted_rows()
    found = [next_step(claim, rows) for claim in read_table(RESULTS / "claims.json")["claims"]]
    return sorted(filter(None, found), key=lambda step: -step.value)


def next_step(claim: dict[str, Any], rows: list[Wanted]) -> Optional[Step]:
    """Return the next step of a claim; `None` if its first seeds decide it, or it has enough."""
    higher = find_row(rows, claim["results"], claim["higher"])
    lower = find_row(rows, claim["results"], claim["lower"])
    if higher is None or lower is None:
        return None
    pair = [higher, lower]
    figures = [valid_figures(row) for row in pair]
    seeds = sorted(figures[0].keys() & figures[1].keys())
    if len(seeds) >= ENOUGH_SEEDS or is_decided_at_first(claim, seeds):
        return None
    number = max(MIN_SEEDS, len(seeds) + 1)
    runs = []
    for seed in choose_seeds(figures, number):
        for row, recorded in zip(pair, figures):
            if seed not in recorded:
                runs.append(Run(row, seed))
    minutes = sum(run.row.minutes for run in runs)
    narrowed = narrowed_by(claim, figures, seeds, number)
    return Step(f"{claim['claim']} ({claim['data']})", narrowed / minutes, runs)


def narrowed_by(
    claim: dict[str, Any], figures: list[dict[int, dict[str, Any]]], seeds: list[int], number: int
) -> float:
    """Return by how many points an interval of these seeds narrows with `number` of them.

    `figures` are those of both rows. A claim that will probably be decided counts as `UNDECIDED`.
    """
    if needed_seeds(claim, seeds) <= 2 * number:  # with half of them, the chance is about even
        return UNDECIDED
    unit = 1 if claim.get("in_percent") else 100
    spreads = []
    for recorded in figures:
        values = [unit * one["metrics"][claim["metric"]] for one in recorded.values()]
        spreads.append(spread(values))
    return interval_width(spreads, len(seeds)) - interval_width(spreads, number)


def choose_seeds(figures: list[dict[int, Any]], number: int) -> list[int]:
    """Return `number` seeds: first those of both rows, then those of one row, then new ones."""
    both = sorted(figures[0].keys() & figures[1].keys())
    one = sorted(figures[0].keys() ^ figures[1].keys())
    known = [*both, *one]
    new = [seed for seed in range(1, number + 1) if seed not in known]
    return sorted([*known, *new][:number])


def spread(figures: list[float]) -> float:
    """Return the standard deviation of figures, or the usual one for fewer than three."""
    return statistics.stdev(figures) if len(figures) >= MIN_SEEDS else USUAL_SPREAD


def interval_width(spreads: list[float], seeds: int) -> float:
    """Return the width of a 95 % interval with this number of seeds, in percentage points."""
    if seeds < MIN_SEEDS:
        return UNDECIDED
    return 2 * 1.96 * math.hypot(*spreads) / math.sqrt(seeds)


def is_decided_at_first(claim: dict[str, Any], seeds: list[int]) -> bool:
    """Return whether a claim has only its first three seeds, whose interval excludes zero."""
    if len(seeds) != MIN_SEEDS:
        return False
    record = record_of(claim, seeds)
    if record:
        return record["holds"] in ("yes", "no")
    return _is_decided_by(json.dumps(claim, sort_keys=True), tuple(seeds))


def needed_seeds(claim: dict[str, Any], seeds: list[int]) -> float:
    """Return the number of seeds that would decide a claim, from claims.json; infinity if
    unknown.
    """
    needed = record_of(claim, seeds).get("needed", "")
    return int(needed) if needed.isdigit() else math.inf


def record_of(claim: dict[str, Any], seeds: list[int]) -> dict[str, str]:
    """Return the line of a claim in claims.json, if it is about these seeds."""
    table = read_table(RESULTS / "claims.json")
    for known, record in zip(table["claims"], table["records"]):
        if known == claim and record.get("seeds") == ", ".join(map(str, seeds)):
            found: dict[str, str] = record
            return found
    return {}


@cache
def _is_decided_by(claim_text: str, seeds: tuple[int, ...]) -> bool:
    claim = json.loads(claim_text)
    unit = 100 if claim.get("in_percent") else 1
    compared = [
        read_row(RESULTS / claim["results"], claim[side], claim["metric"], unit)
        for side in ("higher", "lower")
    ]
    higher, lower = (_with_seeds(row, seeds) for row in compared)
    found = comparison_of(higher, lower)
    return found is not None and (found.low > 0 or found.high < 0)


def _with_seeds(row: Optional[Row], seeds: tuple[int, ...]) -> Optional[Row]:
    if row is None:
        return None
    items = {seed: scores for seed, scores in row.items.items() if seed in seeds}
    return Row({seed: row.figures[seed] for seed in seeds if seed in row.figures}, items)


def outdated_runs() -> list[Run]:
    """Return the runs whose settings have changed or are unknown, the shortest one first."""
    runs = [
        Run(row, seed)
        for row in wanted_rows()
        for seed, figures in figures_of(row).items()
        if figures["digests"] != row.digest
    ]
    return sorted(runs, key=lambda run: run.row.minutes)


def planned_runs() -> Iterator[Run]:
    """Yield the runs in the queue's order: for the claims, then the outdated ones."""
    for step in steps():
        yield from step.runs
    yield from outdated_runs()


def new_table(file: str) -> dict[str, Any]:
    """Return a file of results without rows, with the description of its data in wanted.json."""
    described = json.loads(WANTED.read_text(encoding="utf-8"))[file]
    return {**empty_table(), **{key: described[key] for key in ("data", "vectors", "metrics")}}
