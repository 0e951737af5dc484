"""The one place where an error of a plain PyTorch constructor becomes AllenNLP's."""

from collections.abc import Iterator
from contextlib import contextmanager

from allennlp.common.checks import ConfigurationError


@contextmanager
def configuration_errors() -> Iterator[None]:
    """Raises every `ValueError` of the block as a `ConfigurationError` with the same message.

    The constructors in `allennlp_sentmatch.nn` name the setting, its value and what would be
    right; to a user of AllenNLP that is an error of the configuration.
    """
    try:
        yield
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
