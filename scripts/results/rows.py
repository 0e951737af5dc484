"""The rows of files of results, as `run_seeds.py` and `queue.py` record them.

A row has the runs of a configuration with some overrides. `seeds` lists their seeds, and each list
of `metrics`, `epochs`, `minutes`, `revisions`, `processors` and `digests` has a value for each of
them, in this order:

- `revisions`: the commit that trained it. A run that was interrupted and continued at another
  commit names both.
- `processors`: name, family, model and instruction set, as `python -m allennlp_sentmatch` prints
  them. Runs from before 2026-11-28 have only the name.
- `digests`: the digest of the evaluated configuration (`settings.py`).

An unknown value is `null`. `machine` has the other facts about the latest run's machine. `outdated`
gives the reason for seeds that today's command would not reproduce: their settings were different,
or are unknown.
"""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, Optional

import allennlp_sentmatch  # noqa: F401  (registers the components)
from allennlp_sentmatch.comparison.item_scores import item_scores
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.tuning.report import machine, minutes_of
from scripts.experiments import CONFIGURATIONS
from scripts.results.commands import quoted
from scripts.results.tables import read_items, read_table, write_items, write_table

OF_EACH_SEED = ("epochs", "minutes", "revisions", "processors", "digests")


class Origin(NamedTuple):
    """The origin of a run."""

    revision: Optional[str]
    processor: str
    digest: str


class Series(NamedTuple):
    """The runs of a configuration with overrides, which are a row of a file."""

    results: Path
    config: Path
    overrides: str
    """Jsonnet, without line breaks."""

    def key(self, seed: int) -> dict[str, Any]:
        """Return the fields that identify the scores of a seed's items."""
        return {
            "configuration": name_of(self.config),
            "overrides": self.overrides,
            "seed": seed,
        }


def name_of(config: Path) -> str:
    """Return a configuration's path under training_config/, without the suffix."""
    return config.resolve().relative_to(CONFIGURATIONS).with_suffix("").as_posix()


def recorded_seeds(series: Series) -> dict[int, dict[str, Any]]:
    """Return the figures and the origin of each recorded seed; none if there is no such row."""
    return seeds_in(row_of(read_table(series.results, empty_table()), series))


def record(
    series: Series,
    seed: int,
    run: dict[str, Any],
    command: Sequence[str],
    origin: Origin,
    threads: Optional[int] = None,
) -> None:
    """Write the figures of a run into the row of its series.

    The file is created if it does not exist. The row keeps fields such as `model` and `differs`,
    and its other seeds unless they are known to have been trained with other settings: a row has
    runs of one configuration. `command` trains the seed; the row's command has all of its seeds.
    """
    table = read_table(series.results, empty_table())
    row = row_of(table, series)
    recorded = seeds_in(row)
    replaced = [one for one in recorded if not has_settings(recorded[one], origin.digest)]
    kept = {one: recorded[one] for one in recorded if one not in replaced}
    made = {**kept, seed: {**figures_of(run), **origins_of(origin)}}
    by_seed = dict(sorted(made.items()))
    row.update(
        {
            "configuration": name_of(series.config),
            "overrides": series.overrides,
            "metrics": common_metrics(list(by_seed.values())),
            "seeds": list(by_seed),
            **{key: [one[key] for one in by_seed.values()] for key in OF_EACH_SEED},
            "machine": machine(threads),
            "date": date.today().isoformat(),
            "command": " ".join(map(quoted, [*command, "--seeds", *map(str, by_seed)])),
        }
    )
    forget_outdated(row, [*replaced, seed])
    table["metrics"] = table["metrics"] or {name: name for name in row["metrics"]}
    write_table(series.results, table)
    remove_items(series, [one for one in replaced if one != seed])


def forget_outdated(row: dict[str, Any], seeds: Sequence[int]) -> None:
    """Remove the reasons why some seeds of a row are outdated."""
    outdated = row.get("outdated", {})
    for seed in seeds:
        outdated.pop(str(seed), None)
    if not outdated:
        row.pop("outdated", None)


def has_settings(figures: dict[str, Any], digest: str) -> bool:
    """Return `False` if a recorded run is known to have had settings other than `digest`."""
    return figures["digests"] in (None, digest)


def origins_of(origin: Origin) -> dict[str, Optional[str]]:
    """Return a run's origin by the names of a row's lists."""
    return {
        "revisions": origin.revision,
        "processors": origin.processor,
        "digests": origin.digest,
    }


def common_metrics(runs: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the figures, one of each run, that all runs have."""
    names = set.intersection(*(set(run["metrics"]) for run in runs))
    return {name: [run["metrics"][name] for run in runs] for name in sorted(names)}


def empty_table() -> dict[str, Any]:
    """Return a file of results without rows."""
    return {
        "data": "",
        "vectors": "",
        "metrics": {},
        "rows": [],
    }


def row_of(table: dict[str, Any], series: Series) -> dict[str, Any]:
    """Return the row of a series in a file's table; add it if it is missing."""
    name = name_of(series.config)
    for row in table["rows"]:
        overrides = row.get("overrides", series.overrides)
        if (row.get("configuration"), overrides) == (name, series.overrides):
            found: dict[str, Any] = row
            return found
    added: dict[str, Any] = {"model": name}
    table["rows"].append(added)
    return added


def seeds_in(row: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return a row's figures by seed; none if it was not written by `record`."""
    if "overrides" not in row or "seeds" not in row:
        return {}
    return {
        seed: {
            "metrics": {name: values[index] for name, values in row["metrics"].items()},
            **{key: row[key][index] for key in OF_EACH_SEED},
        }
        for index, seed in enumerate(row["seeds"])
    }


def figures_of(run: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a run's metrics.json that are recorded."""
    return {
        "metrics": {
            name.replace("best_validation", "validation").removeprefix("test_"): round(run[name], 4)
            for name in common_figures([run])
        },
        "epochs": f"{run['best_epoch'] + 1} of {run['epoch'] + 1}",
        "minutes": round(minutes_of(run["training_duration"]), 1),
    }


def common_figures(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names of the validation and test figures that all runs have."""
    names = set.intersection(*(set(run) for run in runs))
    return sorted(name for name in names if name.startswith(("best_validation_", "test_")))


def record_items(series: Series, seed: int, archive: Path, data: str, again: bool) -> None:
    """Write the scores of the items, if the model has them, into the line of a seed.

    `data` is "test" or "validation"; an existing line is replaced only with `again`.
    """
    key = series.key(seed)
    lines = read_items(series.results)
    others = [line for line in lines if not line.items() >= key.items()]
    if len(others) < len(lines) and not again:
        return
    loaded = load_archive(archive)
    scores = item_scores(loaded, loaded.config[f"{data}_data_path"])
    if scores is None:
        return
    if all(score in (0.0, 1.0) for score in scores):
        scores = "".join(str(int(score)) for score in scores)
    write_items(series.results, [*others, {**key, "data": data, "scores": scores}])


def remove_items(series: Series, seeds: Sequence[int]) -> None:
    """Remove the scores of the items of some seeds."""
    keys = [series.key(seed) for seed in seeds]
    if not keys:
        return
    lines = read_items(series.results)
    kept = [line for line in lines if not any(line.items() >= key.items() for key in keys)]
    write_items(series.results, kept)
