"""The report of a study."""

import math
import os
import platform
from datetime import date
from importlib.metadata import version
from typing import Any, Optional

from allennlp.common.util import JsonDict

from allennlp_sentmatch.tuning.search_space import optuna_library
from allennlp_sentmatch.version import __version__

DIGITS = 4

SETTINGS = "settings"
"""The study's attribute with its settings, which identify it."""


def study_report(study: Any, threads: Optional[int] = None) -> JsonDict:
    """Describe an `optuna.Study` as JSON values.

    # Parameters

    study : `optuna.Study`
    threads : `int`, optional (default = `None`)
        The number for each training; by default, the environment's.

    # Returns

    `space`, `metric`, `sampler` and `seed`, as `Tuner` has them; `trials`, the finished ones, as
    `describe_trial` has them; `best`, the best one, or `None` if no training was completed;
    `machine`, with versions and the number of threads; `date`.
    """
    states = optuna_library().trial.TrialState
    complete = study.get_trials(states=(states.COMPLETE,))
    finished = [trial for trial in study.trials if trial.state.is_finished()]
    settings = study.user_attrs[SETTINGS]
    versions = {"optuna": version("optuna"), "allennlp_sentmatch": __version__}
    return {
        "metric": settings["metric"],
        "sampler": settings["sampler"],
        "seed": settings["seed"],
        "space": settings["space"],
        "best": describe_trial(study.best_trial) if complete else None,
        "trials": [describe_trial(trial) for trial in finished],
        "machine": {**machine(threads), **versions},
        "date": date.today().isoformat(),
    }


def machine(threads: Optional[int] = None) -> JsonDict:
    """Describe the machine and the versions; `threads` are by default the environment's."""
    cores = os.cpu_count()
    return {
        "cores": cores,
        "threads": threads or int(os.environ.get("OMP_NUM_THREADS", cores or 1)),
        "python": platform.python_version(),
        "torch": version("torch"),
    }


def describe_trial(trial: Any) -> JsonDict:
    """Describe a finished `optuna.FrozenTrial`.

    # Returns

    Its `number`; its `state`, "complete", "pruned", "failed" or "interrupted"; the `values` of the
    parameters; the `value` of the metric in the best epoch, `None` unless the state is "complete".
    If an epoch was trained, the `metrics` on the validation data in the best epoch, `best_epoch`
    and `epochs`, counted from 1, and the `minutes`. If it failed, the `reason`.
    """
    states = optuna_library().trial.TrialState
    names = {states.COMPLETE: "complete", states.PRUNED: "pruned", states.FAIL: "failed"}
    described = {
        "number": trial.number,
        "state": "interrupted" if is_interrupted(trial) else names[trial.state],
        "values": trial.params,
        "value": trial.value if trial.state == states.COMPLETE else None,
    }
    metrics = trial.user_attrs.get("metrics")
    if metrics is not None:
        described["metrics"] = _validation_metrics(metrics)
        described["best_epoch"] = metrics["best_epoch"] + 1
        described["epochs"] = metrics["epoch"] + 1
        described["minutes"] = round(minutes_of(metrics["training_duration"]), 1)
    if "reason" in trial.user_attrs:
        described["reason"] = trial.user_attrs["reason"]
    return described


def _validation_metrics(metrics: JsonDict) -> dict[str, float]:
    """Return the finite figures on the validation data in the best epoch, by their own names."""
    prefix = "best_validation_"
    found = {}
    for name, value in metrics.items():
        if name.startswith(prefix) and isinstance(value, float) and math.isfinite(value):
            found[name.removeprefix(prefix)] = round(value, DIGITS)
    return found


def minutes_of(duration: str) -> float:
    """Return the minutes of a duration in AllenNLP's format, such as "2 days, 1:30:00.5"."""
    days, _, clock = duration.rpartition(" ")
    num_days = int(days.split()[0]) if days else 0
    hours, minutes, seconds = clock.split(":")
    num_hours = 24 * num_days + int(hours)
    return 60 * num_hours + int(minutes) + float(seconds) / 60


def is_interrupted(trial: Any) -> bool:
    """Return whether an `optuna.FrozenTrial` was interrupted, rather than having failed."""
    states = optuna_library().trial.TrialState
    return trial.state == states.FAIL and "reason" not in trial.user_attrs
