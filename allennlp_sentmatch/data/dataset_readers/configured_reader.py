"""Errors in data that name the reader."""

from collections.abc import Iterator
from typing import Any

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.instance import Instance


class ConfiguredReader(DatasetReader):
    """Says in errors of reading that it is the `validation_dataset_reader`. Not registered itself.

    An override of `dataset_reader` leaves the other reader of a configuration as it is, whose
    errors would seem to come from the one that was overridden.
    """

    _section = ""

    @classmethod
    def from_params(cls, params: Params, *args: Any, **kwargs: Any) -> "ConfiguredReader":
        """Construct the reader of a section of a configuration."""
        reader: ConfiguredReader = super().from_params(params, *args, **kwargs)
        reader._section = params.history.rstrip(".")
        return reader

    def read(self, file_path: Any) -> Iterator[Instance]:
        """Read the instances of a data path."""
        try:
            yield from super().read(file_path)
        except ConfigurationError as error:
            if self._section != "validation_dataset_reader":
                raise
            raise ConfigurationError(
                f"{error.message} (read by the validation_dataset_reader, which has settings of "
                "its own)"
            ) from error
