"""The optional library Optuna."""

from typing import Any

from allennlp.common.checks import ConfigurationError


def optuna_library() -> Any:
    """Import Optuna, with its own log of each trial switched off.

    # Raises

    `ConfigurationError` if it is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise ConfigurationError("tuning needs the extra [tune]: pip install optuna") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
