"""Search the settings of a configuration: a study of Optuna whose trials are training runs."""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.params import with_overrides
from allennlp.common.util import JsonDict
from filelock import FileLock, Timeout

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.folders import AnyPath, write_json
from allennlp_sentmatch.nn.checks import COUNT, SEED, check_choice, integer, optional
from allennlp_sentmatch.tuning.report import describe_trial, is_interrupted, study_report
from allennlp_sentmatch.tuning.search_space import SearchSpace, optuna_library
from allennlp_sentmatch.tuning.stored_study import DATABASE, TRIALS, open_study
from allennlp_sentmatch.tuning.training import Interruption, TrainingError, training

SAMPLERS = ("grid", "tpe", "random")


class Tuner:
    """A study in a folder, which can be interrupted and continued.

    The folder has Optuna's `study.db`; in `trials/` each trial's serialization directory,
    configuration and output; the report, `study.json`; and `best_config.json`, for `allennlp
    train`. A run that fails is recorded with its reason, and the study continues; an interrupted
    one is repeated as another trial. No run reads the test data, not even for its vocabulary.

    # Parameters

    configuration : `Mapping[str, Any]`
        The configuration of a run, with its overrides.
    space : `SearchSpace`
    folder : `Union[str, PathLike]`
        A new folder, or the folder of the same study.
    metric : `str`, optional (default = `None`)
        The validation metric, which begins with "+" if it is to be large and with "-" if it is to
        be small. It also selects each run's epoch. By default, it is the trainer's metric.
    sampler : `str`, optional (default = `None`)
        "grid" tries each combination of choices once, "random" draws values, and "tpe" lets earlier
        trials guide it. The default is "grid" if every parameter is categorical, otherwise "tpe".
    seed : `int`, optional (default = `0`)
        The sampler's seed. The runs have the configuration's seeds.
    pruning_after : `int`, optional (default = `None`)
        Stop a run after an epoch if its best figure so far is worse than the median of what
        earlier trials had after that epoch; not before this many trials are complete. By default,
        no training is stopped.
    num_jobs : `int`, optional (default = `1`)
        The number of parallel runs, which share the cores.
    include_packages : `Sequence[str]`, optional (default = `()`)
        Imported by the runs, as `allennlp train --include-package`.
    provenance : `Mapping[str, Any]`, optional (default = `{}`)
        Other fields of the report, such as the command.

    # Raises

    `ConfigurationError` if Optuna is not installed, if a setting is impossible, and if the space or
    the metric does not fit the configuration.
    """

    def __init__(
        self,
        configuration: Mapping[str, Any],
        space: SearchSpace,
        folder: AnyPath,
        metric: Optional[str] = None,
        sampler: Optional[str] = None,
        seed: int = 0,
        pruning_after: Optional[int] = None,
        num_jobs: int = 1,
        include_packages: Sequence[str] = (),
        provenance: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        with configuration_errors():
            COUNT.check("the number of jobs", num_jobs)
            SEED.check("the sampler's seed", seed)
            optional(integer(least=0)).check("the number of trials before pruning", pruning_after)
        space.check(configuration)
        if not configuration.get("validation_data_path"):
            raise ConfigurationError("the configuration has no validation_data_path to compare by")
        self.configuration = configuration
        self.space = space
        self.folder = Path(folder)
        self.metric = _metric(configuration, metric)
        self._sampler_name = _sampler_name(space, sampler)
        self._seed = seed
        self._pruning_after = pruning_after
        self._num_jobs = num_jobs
        self._include_packages = include_packages
        self._provenance = provenance
        # More threads than cores would wait for each other.
        cores = os.cpu_count() or 1
        self.threads = None if num_jobs == 1 else max(1, cores // num_jobs)
        self._database = self.folder / DATABASE
        self._lock = self.folder / "study.lock"
        self._interruption = Interruption()
        self._optuna = optuna_library()

    def run(
        self,
        num_trials: Optional[int] = None,
        on_trial: Callable[[JsonDict], None] = lambda trial: None,
    ) -> JsonDict:
        """Train until the study has a number of trials, and report it.

        # Parameters

        num_trials : `int`, optional (default = `None`)
            Includes the trials of earlier calls, but not interrupted ones. By default, a grid is
            completed.
        on_trial : `Callable[[JsonDict], None]`, optional
            Called after each trial with its part of the report.

        # Returns

        The content of `study.json`: see `study_report`.

        # Raises

        `ConfigurationError` if the folder has other files or another study, if a file that the
        settings name has changed since, if another process runs the study, or if no trial was
        complete. `KeyboardInterrupt` after Ctrl-C and SIGTERM; the report is written first.
        """
        if num_trials is None:
            num_trials = self._size_of_grid()
        with configuration_errors():
            COUNT.check("the number of trials", num_trials)
        if not self._database.exists() and self._has_files():
            raise ConfigurationError(f"{self.folder} is not empty and has no {DATABASE}")
        (self.folder / TRIALS).mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(str(self._lock), timeout=0), self._interruption:
                return self._run(num_trials, on_trial)
        except Timeout:
            raise ConfigurationError(f"another process runs the study in {self.folder}") from None

    def _has_files(self) -> bool:
        """Return whether the folder has more than a study that was killed at once leaves there."""
        files = (path for path in self.folder.rglob("*") if not path.is_dir())
        return any(path != self._lock for path in files)

    def _size_of_grid(self) -> int:
        """Return the number of combinations; raise `ConfigurationError` for another sampler."""
        grid = self.space.grid() if self._sampler_name == "grid" else None
        if grid is None:
            raise ConfigurationError(
                f"the sampler {self._sampler_name} needs a number of trials: give --n-trials"
            )
        return math.prod(map(len, grid.values()))

    def _run(self, num_trials: int, on_trial: Callable[[JsonDict], None]) -> JsonDict:
        """Train until the study has a number of trials, and return the report; see `run`."""
        study = self._open()

        def num_missing() -> int:
            ends = [trial for trial in study.trials if trial.state.is_finished()]
            return num_trials - sum(not is_interrupted(trial) for trial in ends)

        def on_end(study: Any, trial: Any) -> None:
            on_trial(describe_trial(trial))
            if self._interruption.requested:
                study.stop()

        try:
            num_next = num_missing()
            while num_next > 0 and not self._interruption.requested:
                study.optimize(
                    self._train,
                    n_trials=num_next,
                    n_jobs=self._num_jobs,
                    catch=(TrainingError,),
                    callbacks=[on_end],
                )
                # The grid sampler treats an interrupted combination as finished, and may end the
                # study before it is repeated.
                waiting = study.get_trials(states=(self._optuna.trial.TrialState.WAITING,))
                num_next = min(len(waiting), num_missing())
            self._interruption.check()
        finally:
            report = self._write_report(study)
        if report["best"] is None:
            reasons = [trial["reason"] for trial in report["trials"] if "reason" in trial]
            failure = f"; the last one failed: {reasons[-1]}" if reasons else ""
            raise ConfigurationError(
                f"no training was complete{failure} (logs: {self.folder / TRIALS / '*.log'})"
            )
        return report

    def _open(self) -> Any:
        """Return the study of the folder, ready to go on."""
        settings = {
            "configuration": self.configuration,
            "space": self.space.parameters,
            "metric": self.metric,
            "sampler": self._sampler_name,
            "seed": self._seed,
        }
        try:
            study = open_study(self.folder, settings, self.space.distributions, self._pruning_after)
            samplers = self._optuna.samplers
            if self._sampler_name == "grid":
                study.sampler = samplers.GridSampler(self.space.grid(), seed=self._seed)
                study.sampler.is_exhausted(study)  # reads the combinations of all trials
            else:
                kinds = {"random": samplers.RandomSampler, "tpe": samplers.TPESampler}
                # With the same seed, the values of the first trials would be drawn again.
                seed = self._seed + len(study.trials)
                study.sampler = kinds[self._sampler_name](seed=seed)
        except ConfigurationError:
            raise
        except Exception as error:  # from SQLite, SQLAlchemy or Optuna
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise ConfigurationError(
                f"{self._database} is damaged: {reason}; restore the file from a copy, or begin a "
                "study in another folder"
            ) from error
        return study

    def _train(self, trial: Any) -> float:
        """Return the objective: the best validation figure of a run."""
        name = self.metric[1:]
        metrics: JsonDict = {}
        try:
            with training(
                self._configuration_of(trial),
                self.folder / TRIALS / str(trial.number),
                self._include_packages,
                self.threads,
                self._interruption,
            ) as epochs:
                for metrics in epochs:
                    trial.set_user_attr("metrics", metrics)
                    if f"validation_{name}" in metrics:
                        trial.report(metrics[f"validation_{name}"], metrics["epoch"])
                        if trial.should_prune():
                            raise self._optuna.TrialPruned
            best: float = metrics.get(f"best_validation_{name}", math.nan)
            if not math.isfinite(best):
                raise TrainingError(f"the best {name} on the validation data is {best}")
        except TrainingError as error:
            trial.set_user_attr("reason", str(error))
            raise
        return best

    def _configuration_of(self, trial: Any) -> JsonDict:
        """Return the configuration of a run, which does not read the test data."""
        configuration = self._configuration_with(trial.params)
        configuration.pop("test_data_path", None)
        configuration["evaluate_on_test"] = False
        return configuration

    def _configuration_with(self, values: Mapping[str, Any]) -> JsonDict:
        """Return the configuration with values of the parameters.

        It selects its epoch by the study's metric, and its vocabulary has no words of the test
        data: with these, the training would give other figures than the run.
        """
        trainer = {**self.configuration.get("trainer", {}), "validation_metric": self.metric}
        configuration = {**self.configuration, "trainer": trainer}
        configuration = with_overrides(configuration, self.space.overrides(values))
        # A parameter may override the whole section.
        configuration["trainer"].setdefault("validation_metric", self.metric)
        parts = configuration.get("datasets_for_vocab_creation")
        if parts is None:
            parts = ["train", "validation"]
        configuration["datasets_for_vocab_creation"] = [part for part in parts if part != "test"]
        return configuration

    def _write_report(self, study: Any) -> JsonDict:
        """Write `study.json`, and `best_config.json` if a trial is complete; return the report."""
        report = {**self._provenance, **study_report(study, self.threads)}
        write_json(self.folder / "study.json", report)
        if report["best"] is not None:
            best = self._configuration_with(report["best"]["values"])
            write_json(self.folder / "best_config.json", best)
        return report


def _metric(configuration: Mapping[str, Any], metric: Optional[str]) -> str:
    """Return the metric with its direction, by default the trainer's.

    Raise `ConfigurationError` if it is not a single one with a direction.
    """
    if metric is None:
        metric = configuration.get("trainer", {}).get("validation_metric", "-loss")
    if not isinstance(metric, str):
        raise ConfigurationError(
            f"the configuration's validation_metric is the sum of several, {metric}: name one "
            "with --metric"
        )
    if metric[:1] not in ("+", "-") or len(metric) < 2:
        raise ConfigurationError(
            'the metric begins with "+" if it is to be large and with "-" if it is to be small, '
            f"as in +accuracy and -loss; got {metric!r}"
        )
    return metric


def _sampler_name(space: SearchSpace, sampler: Optional[str]) -> str:
    """Return the sampler's name, by default the one that suits the space.

    Raise `ConfigurationError` for an unknown one, and for a grid if a parameter is not categorical.
    """
    if sampler is None:
        return "tpe" if space.grid() is None else "grid"
    with configuration_errors():
        check_choice(*SAMPLERS, sampler=sampler)
    if sampler == "grid" and space.grid() is None:
        raise ConfigurationError("the sampler grid needs categorical parameters only")
    return sampler
