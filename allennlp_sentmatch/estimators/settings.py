"""Settings of estimators: `fit` checks them when it begins, as in scikit-learn."""

from collections.abc import Mapping
from typing import Any

import numpy

from allennlp_sentmatch.nn.checks import Kind, read_settings


def read_attributes(settings: Any, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the attributes of `settings` with the names in `kinds`, as Python's own types.

    Scalars of NumPy are accepted. Raise a `ValueError` that names the first attribute which is not
    of its kind.
    """
    given = {}
    for name in kinds:
        value = getattr(settings, name)
        given[name] = value.item() if isinstance(value, numpy.generic) else value
    return read_settings(given, kinds)
