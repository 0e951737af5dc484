"""A study in a folder: Optuna's database of trials, which is checked before a study goes on."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict

from allennlp_sentmatch.files.digests import files_digest
from allennlp_sentmatch.files.folders import nested_settings
from allennlp_sentmatch.tuning.report import SETTINGS, is_interrupted
from allennlp_sentmatch.tuning.search_space import optuna_library

DATABASE = "study.db"
TRIALS = "trials"
"""The folder of the trials' serialization directories, configurations and outputs."""

BUSY_SECONDS = 120
"""Seconds that a thread waits for another thread's write to the database."""

_REPEATS = "repeats"
_FILES = "files"


def open_study(
    folder: Path,
    settings: JsonDict,
    distributions: Mapping[str, Any],
    pruning_after: Optional[int],
) -> Any:
    """Return the study of a folder, ready to go on; create it if it does not exist.

    # Parameters

    folder : `Path`
    settings : `JsonDict`
        The study's "configuration", "space", "metric", "sampler" and "seed".
    distributions : `Mapping[str, Any]`
        Optuna's distribution of each parameter, from which a trial's values are drawn.
    pruning_after : `int`, optional
        The number of complete trials before the first one is pruned; `None` prunes none.

    # Raises

    `ConfigurationError` if the folder has a study with other settings, or if a file that the
    settings name has changed since; `ValueError`, or an error of Optuna or SQLite, if the database
    is damaged.
    """
    study = _stored(folder, settings["metric"], pruning_after)
    default = {} if study.trials else settings  # a new study has none yet
    earlier = study.user_attrs.get(SETTINGS, default)
    for name, value in settings.items():
        if earlier.get(name) != value:
            raise ConfigurationError(
                f"the study in {folder} was begun with another {name}; use another folder for "
                "another study"
            )
    files = _digests(settings)
    for path, digest in earlier.get(_FILES, {}).items():
        if files.get(path) != digest:
            raise ConfigurationError(
                f"{path} has changed since the study in {folder} was begun, and its trials would "
                "be unlike the earlier ones: restore the file, or use another folder for another "
                "study"
            )
    _check_trials(study, folder / TRIALS)
    study.set_user_attr(SETTINGS, {**settings, _FILES: files})
    _ask_one_by_one(study, distributions)
    _repeat_interrupted(study)
    return study


def _stored(folder: Path, metric: str, pruning_after: Optional[int]) -> Any:
    """Return the study in the database, made if it does not exist."""
    optuna = optuna_library()
    pruner = optuna.pruners.NopPruner()
    if pruning_after is not None:
        pruner = optuna.pruners.MedianPruner(n_startup_trials=pruning_after)
    storage = optuna.storages.RDBStorage(
        f"sqlite:///{folder / DATABASE}",
        # On a busy machine, another thread's write may take longer than SQLite's 5 seconds.
        engine_kwargs={"connect_args": {"timeout": BUSY_SECONDS}},
    )
    return optuna.create_study(
        storage=storage,
        study_name="study",
        direction="maximize" if metric.startswith("+") else "minimize",
        pruner=pruner,
        load_if_exists=True,
    )


def _digests(settings: JsonDict) -> dict[str, str]:
    """Return the digests of the files, such as data, that the runs' settings name."""
    read = {**settings["configuration"], "test_data_path": None, "space": settings["space"]}
    files = {}
    for _, value in nested_settings(read):
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            if isinstance(text, str) and os.path.isfile(text):
                files[text] = files_digest(text)
    return files


def _check_trials(study: Any, folder: Path) -> None:
    """Raise `ValueError` if the folder has a trial that the database does not have."""
    numbers = {str(trial.number) for trial in study.trials}
    for file in folder.glob("*.json"):
        if file.stem not in numbers:
            raise ValueError(
                f"it has no trial {file.stem}, unlike {folder} (if it is an older copy, delete "
                "there what belongs to later trials)"
            )


def _ask_one_by_one(study: Any, distributions: Mapping[str, Any]) -> None:
    """Let one thread at a time ask a study for a trial, with values of the distributions.

    Two threads that ask at the same time could get the same waiting trial: SQLite does not lock the
    row between Optuna's reading and writing of its state.
    """
    lock = threading.Lock()
    ask = study.ask

    def ask_alone() -> Any:
        with lock:
            return ask(distributions)

    study.ask = ask_alone


def _repeat_interrupted(study: Any) -> None:
    """Put the interrupted trials that have not been repeated before the next ones.

    No other process trains: a trial that is running was left behind by one that was killed.
    """
    optuna = optuna_library()
    states = optuna.trial.TrialState
    for trial in study.get_trials(states=(states.RUNNING,)):
        study.tell(trial.number, state=states.FAIL)
    repeated = {trial.user_attrs.get(_REPEATS) for trial in study.trials}
    for trial in study.trials:
        if is_interrupted(trial) and trial.number not in repeated:
            repetition = optuna.trial.create_trial(
                state=states.WAITING,
                params=trial.params,
                distributions=trial.distributions,
                user_attrs={_REPEATS: trial.number},
                system_attrs=trial.system_attrs,  # such as the grid's combination
            )
            study.add_trial(repetition)
