"""The report of a study."""

import math
import os
import platform
from datetime import date
from importlib.metadata import version
from typing import Any, Optional

from allennlp_sentmatch.tuning.search_space import optuna_library
from allennlp_sentmatch.version import __version__

DIGITS = 4

SETTINGS = "settings"
"""The study's attribute with its settings, which identify it."""


def study_report(study: Any, threads: Optional[int] = None) -> dict[str, Any]:
    """Describe an `optuna.Study` as JSON values.

    `threads` is the number for each training; by default, the environment's.

    Returns `space`, `metric`, `sampler` and `seed`, as `Tuner` has them; `trials`, the finished
    ones, as `describe_trial` has them; `best`, the best one, or `None` if no training was
    completed; `machine`, with versions and the number of threads; `date`.
    """
    states = optuna_library().trial.TrialState
    complete = study.get_trials(states=(states.COMPLETE,))
    settings = study.user_attrs[SETTINGS]
    return {
        **{name: settings[name] for name in ("metric", "sampler", "seed", "space")},
        "best": describe_trial(study.best_trial) if complete else None,
        "trials": [describe_trial(trial) for trial in study.trials if trial.state.is_finished()],
        "machine": machine(threads)
        | {"optuna": version("optuna"), "allennlp_sentmatch": __version__},
        "date": date.today().isoformat(),
    }


def machine(threads: Optional[int] = None) -> dict[str, Any]:
    """Describe the machine and the versions; `threads` are by default the environment's."""
    return {
        "cores": os.cpu_count(),
        "threads": threads or int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)),
        "python": platform.python_version(),
        "torch": version("torch"),
    }


def describe_trial(trial: Any) -> dict[str, Any]:
    """Describe a finished `optuna.FrozenTrial`.

    Returns its `number`; its `state`, "complete", "pruned", "failed" or "interrupted"; the `values`
    of the parameters; the `value` of the metric in the best epoch, `None` unless the state is
    "complete". If an epoch was trained, the `metrics` on the validation data in the best epoch,
    `best_epoch` and `epochs`, counted from 1, and the `minutes`. If it failed, the `reason`.
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
        prefix = "best_validation_"
        described["metrics"] = {
            name[len(prefix) :]: round(value, DIGITS)
            for name, value in metrics.items()
            if name.startswith(prefix) and isinstance(value, float) and math.isfinite(value)
        }
        described["best_epoch"] = metrics["best_epoch"] + 1
        described["epochs"] = metrics["epoch"] + 1
        described["minutes"] = round(minutes_of(metrics["training_duration"]), 1)
    if "reason" in trial.user_attrs:
        described["reason"] = trial.user_attrs["reason"]
    return described


def minutes_of(duration: str) -> float:
    """Return the minutes of a duration in AllenNLP's format, such as "2 days, 1:30:00.5"."""
    *days, clock = duration.split(" day")
    hours, minutes, seconds = clock.rpartition(" ")[2].split(":")
    return 60 * (24 * int(*days) + int(hours)) + int(minutes) + float(seconds) / 60


def is_interrupted(trial: Any) -> bool:
    """Return whether an `optuna.FrozenTrial` was interrupted, rather than having failed."""
    states = optuna_library().trial.TrialState
    return trial.state == states.FAIL and "reason" not in trial.user_attrs
