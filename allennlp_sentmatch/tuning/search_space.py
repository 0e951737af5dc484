"""The settings that a study searches, and their possible values."""

import json
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.common.params import evaluate_file

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.nn.checks import (
    TRUTH,
    Kind,
    integer,
    number,
    object_of_type,
    optional,
    read_given,
)


def _are_choices(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(overrides, Mapping) for overrides in value.values())
    return isinstance(value, list)


_CHOICES = Kind("a list, or an object of named ones, each an object of overrides", _are_choices)


def _numbers(bound: Kind) -> dict[str, Kind]:
    """Return the arguments of a distribution of numbers, whose bounds are of a kind."""
    bound = optional(bound, "null")
    return {
        "low": bound,
        "high": bound,
        "step": bound,
        "log": optional(TRUTH, "null"),
    }


_ARGUMENTS = {
    "float": _numbers(number()),
    "int": _numbers(integer()),
    "categorical": {"choices": _CHOICES},
}
"""The arguments of each type of parameter, which has a distribution of Optuna."""

_PARAMETER = object_of_type(*_ARGUMENTS)


def optuna_library() -> Any:
    """Return Optuna with its log of each trial switched off.

    Raise `ConfigurationError` if it is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise ConfigurationError("tuning needs the extra [tune]: pip install optuna") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


class SearchSpace:
    """Settings of a configuration, and the values that each may have.

    # Parameters

    parameters : `Mapping[str, Any]`
        For each setting, in AllenNLP's dotted form, the type and the arguments of a distribution:

            {
              "trainer.optimizer.lr": {"type": "float", "low": 1e-5, "high": 1e-3, "log": true},
              "model.encoder.num_layers": {"type": "int", "low": 1, "high": 3},
              "model.embedding_dropout": {"type": "categorical", "choices": [0.1, 0.15, 0.2]}
            }

        If `choices` is an object, each choice has a name and overrides any settings, so that
        several settings can change together, or can have objects as values. The parameter's name is
        then arbitrary: `"choices": {"low": {"model.embedding_dropout": 0.1, ...}, ...}`.

    # Attributes

    parameters : `dict[str, Any]`
        As given.
    distributions : `dict[str, Any]`
        For each parameter, Optuna's distribution.

    # Raises

    `ConfigurationError` if there are no parameters and, with the parameter's name, if Optuna does
    not accept it.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        if not parameters:
            raise ConfigurationError("the search space has no parameters")
        self.parameters = dict(parameters)
        # For each parameter with named choices, the overrides of each choice.
        self._named: dict[str, dict[str, dict[str, Any]]] = {}
        self.distributions = {
            name: self._read(name, values) for name, values in self.parameters.items()
        }

    @classmethod
    def from_file(cls, path: AnyPath) -> "SearchSpace":
        """Read a JSON or Jsonnet file or URL.

        Raise `ConfigurationError`, which names it, if it is not one or does not have a space.
        """
        try:
            parameters = json.loads(evaluate_file(str(cached_path(path))))
        except ValueError as error:
            raise ConfigurationError(f"{path} is not JSON or Jsonnet in UTF-8: {error}") from error
        if not isinstance(parameters, dict):
            raise ConfigurationError(
                f"{path}: expected an object with a key for each setting, as in "
                '{"trainer.optimizer.lr": {"type": "categorical", "choices": [0.001, 0.0003]}}'
            )
        try:
            return cls(parameters)
        except ConfigurationError as error:
            raise ConfigurationError(f"{path}: {error}") from error

    def overrides(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that the parameters' `values` override, with their new values."""
        overrides: dict[str, Any] = {}
        for name, value in values.items():
            if name in self._named:
                overrides.update(self._named[name][value])
            else:
                overrides[name] = value
        return overrides

    def grid(self) -> Optional[dict[str, list[Any]]]:
        """Return the choices of each parameter; `None` if one of them is not categorical."""
        if any(values["type"] != "categorical" for values in self.parameters.values()):
            return None
        return {name: list(values.choices) for name, values in self.distributions.items()}

    def check(self, configuration: Mapping[str, Any]) -> None:
        """Raise a `ConfigurationError` for settings that are missing or overridden twice."""
        owners: dict[str, str] = {}
        for name in self.parameters:
            for setting in self._overridden(name):
                _check_exists(configuration, name, setting)
                _check_free(owners, name, setting)
                owners[setting] = name

    def _overridden(self, name: str) -> list[str]:
        """Return the settings that a parameter overrides, by any of its choices."""
        if name not in self._named:
            return [name]
        choices = self._named[name].values()
        return list(dict.fromkeys(setting for overrides in choices for setting in overrides))

    def _read(self, name: str, values: Any) -> Any:
        """Return Optuna's distribution for a parameter, which is checked here."""
        try:
            _PARAMETER.check("a parameter", values)
            kind = values["type"]
            arguments = {key: value for key, value in values.items() if key != "type"}
            read_given(arguments, _ARGUMENTS[kind])
            if isinstance(arguments.get("choices"), Mapping):
                self._named[name] = arguments["choices"]
                arguments["choices"] = list(arguments["choices"])
            _check_choices(name, arguments.get("choices", []))
            distributions = optuna_library().distributions
            make = getattr(distributions, f"{kind.capitalize()}Distribution")
            return make(**arguments)
        except (TypeError, ValueError, OverflowError) as error:
            raise ConfigurationError(f"{name}: {error}") from error


def _check_choices(name: str, choices: list[Any]) -> None:
    """Raise a `ValueError` for choices that Optuna does not take, or takes for one another."""
    if any(isinstance(one, (dict, list)) for one in choices):
        raise ValueError(
            "a choice is a number, a string, a boolean or null; give other choices "
            f'names, as in "choices": {{"a name": {{"{name}": {{...}}}}}}'
        )
    if any(one == other for one, other in combinations(choices, 2)):
        raise ValueError("two choices are equal, as 1, 1.0 and true are")


def _check_exists(configuration: Mapping[str, Any], name: str, setting: str) -> None:
    """Raise a `ConfigurationError` if a configuration lacks a parameter's setting."""
    missing = _first_missing(configuration, setting)
    if missing is not None:
        part, names = missing
        raise ConfigurationError(
            f"{name}: the configuration has no setting {setting!r}; "
            f"{part or 'its top level'} has {', '.join(names) or 'no settings'}. "
            "To search a setting that has its default there, give it a value with --overrides"
        )


def _check_free(owners: Mapping[str, str], name: str, setting: str) -> None:
    """Raise a `ConfigurationError` if another parameter overrides a setting, or a part of it.

    `owners` are the parameters by the settings that they override.
    """
    for other, owner in owners.items():
        outer, inner = sorted((setting, other), key=len)
        if owner != name and f"{inner}.".startswith(f"{outer}."):
            raise ConfigurationError(f"{owner} and {name} both override {inner}")


def _first_missing(configuration: Any, setting: str) -> Optional[tuple[str, list[str]]]:
    """Return the innermost existing section of a missing setting's path, and its names.

    The result is `None` if the setting is there.
    """
    section = ""
    rest = setting
    while rest:
        if isinstance(configuration, Mapping):
            items = {str(key): value for key, value in configuration.items()}
        elif isinstance(configuration, list):
            items = {str(index): value for index, value in enumerate(configuration)}
        else:
            items = {}
        keys = [key for key in items if f"{rest}.".startswith(f"{key}.")]
        if not keys:
            return section, list(items)
        configuration = items[keys[0]]
        rest = rest[len(keys[0]) + 1 :]
        section = f"{section}.{keys[0]}".lstrip(".")
    return None
