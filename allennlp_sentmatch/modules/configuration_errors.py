"""Conversion of the errors of plain PyTorch constructors into AllenNLP's."""

from collections.abc import Iterator
from contextlib import contextmanager

from allennlp.common.checks import ConfigurationError


@contextmanager
def configuration_errors() -> Iterator[None]:
    """Raises every `ValueError` of the block as a `ConfigurationError` with the same message.

    The constructors in `allennlp_sentmatch.nn` name the setting, its value and the expected values;
    in AllenNLP this is an error in the configuration.
    """
    try:
        yield
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
